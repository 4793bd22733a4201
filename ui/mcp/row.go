package mcp

import "orchestrator/thread"

// row is a server with its texts, cleaned.
type row struct {
	server    thread.MCPServer
	name, why string
}

func rowOf(s thread.MCPServer) row { return row{server: s, name: Name(&s), why: why(&s)} }
