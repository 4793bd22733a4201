package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"orchestrator/thread"
)

const (
	// Name is what agents see the gateway as, and the server of the tools that are our own.
	Name = thread.MCPName
	// separator stands between a server and its tool.
	separator = "__"
	// maxName is the most bytes of an exposed name: models take 64, the longest prefix of a client's own is 11 bytes
	// (mcp__orch__), and a registered name may be 9 bytes longer than "orch".
	maxName = 44
	// hashSize is the length of what is put behind an ambiguous name.
	hashSize = len("_x123456")
)

// exposed returns the names by which a server's items are seen, in their order. A name depends on the server and its
// items alone, so that switching another server changes none. It has letters, digits, "_" and "-" only, since models
// take no others; where that or its length makes it ambiguous, it ends with _x and six hex digits of a hash.
func exposed(server string, items []string) []string {
	prefix := plain(server)
	ambiguous := prefix != server || strings.Contains(server, separator) || strings.HasSuffix(server, "_") ||
		server == Name
	taken := map[string]int{}
	for _, item := range items {
		taken[plain(item)]++
	}
	names := make([]string, len(items))
	for i, item := range items {
		p := plain(item)
		names[i] = prefix + separator + p
		if ambiguous || len(names[i]) > maxName || taken[p] > 1 && p != item || endsInHash(names[i]) {
			sum := sha256.Sum256([]byte(server + "\x00" + item))
			names[i] = names[i][:min(len(names[i]), maxName-hashSize)] + "_x" + hex.EncodeToString(sum[:3])
		}
	}
	return names
}

// endsInHash reports whether a name ends like those that end in a hash, so that no other name can be one of them.
func endsInHash(name string) bool {
	i := len(name) - hashSize
	return i >= 0 && name[i:i+2] == "_x" && strings.Trim(name[i+2:], "0123456789abcdef") == ""
}

// plain replaces what models do not take in names.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
}
