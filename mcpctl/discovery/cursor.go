package discovery

// readCursor reads .cursor/mcp.json.
func readCursor(r *reader, content []byte) {
	if v, ok := r.parse(content); ok {
		if servers, ok := r.object(v, "mcpServers"); ok {
			r.servers(servers, r.scope, setEditor)
		}
	}
}
