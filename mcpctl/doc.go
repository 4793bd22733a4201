// Package mcpctl controls the MCP servers of a project's threads: it knows what is configured and accepted, which thread
// has what switched on and why, and what the servers offer and cost.
//
// A [Controller] guarantees: nothing is started that the person has not accepted exactly as it is now, which is checked
// again right before each start; what a thread has switched on is stored with the thread before a person's switch
// returns; a tool whose definition has changed is withheld until the person has seen it; and the lists that agents get
// depend on switches and known definitions alone, never on the health of a server.
package mcpctl
