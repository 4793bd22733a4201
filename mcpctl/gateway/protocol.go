package gateway

import (
	"orchestrator/thread/ground/rpc"
)

// The revisions of the protocol that are spoken: those with a handshake, newest first, and the stateless one.
const modern = "2026-07-28"

func legacy() []string { return []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} }

// The keys of _meta that the stateless era uses instead of the handshake.
const (
	metaPrefix       = "io.modelcontextprotocol/"
	metaVersion      = metaPrefix + "protocolVersion"
	metaCapabilities = metaPrefix + "clientCapabilities"
	metaServer       = metaPrefix + "serverInfo"
	metaSubscription = metaPrefix + "subscriptionId"
)

// change is a list of which the agent is told that it has changed.
type change struct{ list, notification, wanted string }

// changes returns the lists that can change.
func changes() []change {
	return []change{
		{"tools/list", "notifications/tools/list_changed", "toolsListChanged"},
		{"prompts/list", "notifications/prompts/list_changed", "promptsListChanged"},
		{"resources/list", "notifications/resources/list_changed", "resourcesListChanged"},
	}
}

// capable is what the gateway can do.
func capable() map[string]any {
	changes := map[string]any{"listChanged": true}
	return map[string]any{"tools": changes, "prompts": changes, "resources": changes, "completions": struct{}{}}
}

// instructions tell the model how the tools are named.
const instructions = "Tools are named server__tool. A large result is staged: it comes as a preview with a token, and " +
	"orch__retrieve reads any part of it. Servers are switched on and off for this conversation by the person or by " +
	"words of the task; orch__find_tool searches the tools of all of them."

// unsupported refuses a revision of the protocol.
func unsupported(version string) error {
	e := rpc.Errorf(rpc.CodeVersion, "protocol version %q is not supported", version)
	e.Data = encoded(map[string]any{"supported": append([]string{modern}, legacy()...), "requested": version})
	return e
}
