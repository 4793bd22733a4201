package gateway

// The tools that are our own.
const (
	retrieveTool = Name + separator + "retrieve"
	findTool     = Name + separator + "find_tool"
)

// readingTools are those of all threads.
func readingTools() []entry {
	return []entry{
		{name: findTool, raw: encoded(map[string]any{
			"name":        findTool,
			"description": "Search the tools of all MCP servers of this project, also of those that are switched off.",
			"inputSchema": map[string]any{
				"type": "object", "required": []string{"query"},
				"properties": map[string]any{
					"query": map[string]any{"type": "string", "description": "what the tool should do, in a few words"},
				},
			},
			"annotations": map[string]any{"readOnlyHint": true},
		})},
		{name: retrieveTool, raw: encoded(map[string]any{
			"name": retrieveTool,
			"description": "Read a part of a staged result by its token. Without a selection it begins at the first line; " +
				"what is returned is cut at 10,000 characters, so select.",
			"inputSchema": map[string]any{
				"type": "object", "required": []string{"token"},
				"properties": map[string]any{
					"token":  map[string]any{"type": "string", "description": "such as max:a1b2c3d4"},
					"from":   map[string]any{"type": "integer", "description": "first line, from 1"},
					"to":     map[string]any{"type": "integer", "description": "last line"},
					"grep":   map[string]any{"type": "string", "description": "only lines that contain this regular expression"},
					"head":   map[string]any{"type": "integer", "description": "only the first so many of the lines selected"},
					"offset": map[string]any{"type": "integer", "description": "bytes of the selection to skip"},
				},
			},
			"annotations": map[string]any{"readOnlyHint": true},
		})},
	}
}
