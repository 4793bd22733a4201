package transcript_test

import (
	"encoding/json"
	"testing"

	"orchestrator/agent/transcript"
)

func TestMoved(t *testing.T) {
	tests := []struct{ name, value, to, want string }{
		{"folder", `{"dir":"/w/p"}`, "/w/f", `{"dir":"/w/f"}`},
		{"below it", `{"path":"/w/p/a.go","n":1}`, "/w/f", `{"path":"/w/f/a.go","n":1}`},
		{"in a text", `"ls /w/p; cat '/w/p/a b'\n/w/p/c"`, "/w/f", `"ls /w/f; cat '/w/f/a b'\n/w/f/c"`},
		{"a text in a text", `{"arguments":"{\"workdir\":\"/w/p\",\"cmd\":\"x\\n/w/p\"}"}`, "/w/f",
			`{"arguments":"{\"workdir\":\"/w/f\",\"cmd\":\"x\\n/w/f\"}"}`},
		{"other folders", `"/w/p2 /mnt/w/p /w/p.old /w/p-1 /w/pé"`, "/w/f", `"/w/p2 /mnt/w/p /w/p.old /w/p-1 /w/pé"`},
		{"a name to escape", `["/w/p/a"]`, `/w/"f"`, `["/w/\"f\"/a"]`},
		{"where it was before", `{"dir":"/old/p","other":"/old/p2"}`, "/w/f", `{"dir":"/w/f","other":"/old/p2"}`},
		{"the innermost", `"/old/p/q/a /old/p/a"`, "/w/f", `"/w/f/a /w/f/a"`},
		{"what is there already", `"/old/p/q/a /old/p/now/a"`, "/old/p/now", `"/old/p/now/a /old/p/now/a"`},
		{"back to where it was", `"/w/p/a /old/p/a"`, "/old/p", `"/old/p/a /old/p/a"`},
		{"into itself", `["/w/p"]`, "/w/p/f", `["/w/p/f"]`},
		{"nowhere", `["/w/p"]`, "", `["/w/p"]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			line, want := `{"said":"in /w/p","tool":`+tt.value+`}`, `{"said":"in /w/p","tool":`+tt.want+`}`
			got := string(transcript.Relocate([]byte(line), []string{"/w/p", "/old/p", "/old/p/q"}, tt.to, nil, json.RawMessage(tt.value)))
			if got != want || !json.Valid([]byte(got)) {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
