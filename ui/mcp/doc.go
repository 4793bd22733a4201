// Package mcp draws the MCP servers of a thread: a short list for the side bar, a table of them, a list of the tools of
// one, and texts about it.
//
// It only shows what the server reported, and changes nothing. What comes from servers, files and repositories is
// cleaned as it comes in; what a person has to judge is shown exactly (see plain.Exact).
package mcp
