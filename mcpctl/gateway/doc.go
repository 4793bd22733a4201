// Package gateway is the one MCP server that an agent sees.
//
// A thread's agent connects with a credential of its own and gets the tools, prompts and resources of the servers that
// are switched on for the thread, as server__tool. Lists are answered from what is known of the servers and never wait
// for a process. What a server says is passed on as it came, byte for byte, but for names, what makes clients refuse a
// result, and results that are staged because they are large. A tool that is not switched on cannot be called, whatever
// list the agent still has. What a server asks goes only to the agent whose call it is working on, with the server's
// name in front.
//
// Both eras of the protocol are spoken: initialize up to 2025-11-25, and the stateless one from 2026-07-28 on, in which
// a question of a server parks its call until the agent repeats it with the answer.
package gateway
