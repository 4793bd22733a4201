package claude_test

import (
	"fmt"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/claude"
	"orchestrator/agent/launch"
	"orchestrator/agent/recorded"
	"orchestrator/thread"
)

// TestPieces holds what is read of each kind of line.
func TestPieces(t *testing.T) {
	prompt := func(uuid, parent string) string {
		return `{"type":"user","uuid":"` + uuid + `","parentUuid":"` + parent + `","message":{"content":"go"}}` + "\n"
	}
	answer := func(uuid, parent, id string) string {
		return `{"type":"assistant","uuid":"` + uuid + `","parentUuid":"` + parent + `","message":{"id":"` + id +
			`","content":[{"type":"text","text":"yes"}],"usage":{"input_tokens":9,"output_tokens":4}}}` + "\n"
	}
	for _, c := range []struct{ name, text, want string }{
		{"went back", prompt("1", "") + answer("2", "1", "m1") + answer("3", "1", "m2") + prompt("4", "3") + prompt("5", "1"),
			"person text2|own text3 9>4|own text3 9>4|person text2|rewind0|person text2"},
		{"written again", answer("1", "", "m1") + answer("2", "1", "m2") + answer("1", "", "m1"), "own text3 9>4|own text3 9>4|own text3"},
		{"goes on from any block", answer("1", "", "m1") + answer("2", "1", "m1") + prompt("3", "1"), "own text3 9>4|own text3|person text2"},
		{"nothing is known of what is before", answer("1", "0", "m1") + prompt("2", "unknown"), "own text3 9>4|person text2"},
		{"a prompt behind a compaction", answer("1", "", "m1") + `{"type":"system","subtype":"compact_boundary","uuid":"2","parentUuid":null}` + "\n" + prompt("3", "2"),
			"own text3 9>4|boundary0|person text2"},
		{"words of Claude Code as a model", `{"type":"assistant","message":{"id":"m","model":"<synthetic>","content":"no","usage":{"input_tokens":1}}}`, ""},
		{"a sub-agent's own file", `{"type":"user","uuid":"1","isSidechain":true,"message":{"content":"sub"}}`, "person text3"},
		{"Claude Code's own words", `{"type":"user","uuid":"1","isMeta":true,"message":{"content":"note"}}` + "\n" +
			`{"type":"attachment","uuid":"2","rendered":[{"content":"date"},{"content":[{"type":"text","text":"x"}]}]}`, "text4|text4|text1"},
		{"pictures", `{"type":"user","message":{"content":[{"type":"image"},{"type":"text","text":"see"}]}}` + "\n" +
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image"},{"type":"text","text":"so"}]}]}}`,
			"person text0 picture|person text3|result2 picture"},
		{"sealed thinking", `{"type":"assistant","message":{"id":"m","content":[{"type":"thinking","thinking":"","signature":"12345"}],"usage":{}}}`,
			"own thinking5 0>0"},
		{"impossible counts", `{"type":"assistant","message":{"id":"m","usage":{"input_tokens":-1}}}`, "line 1: " + recorded.ErrCount.Error()},
		{"words that were not sent", `{"type":"assistant","isApiErrorMessage":true,"message":{"id":"m","content":"no","usage":{"input_tokens":1}}}`, ""},
	} {
		if got := agenttest.Pieces(t, claude.New(launch.Config{}), c.text); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
}

// TestRecognises: files are known by any of their first lines, also when these are cut, and those of others are not.
func TestRecognises(t *testing.T) {
	for text, want := range map[string]bool{
		`{"type":"summary","summary":"x","leafUuid":"y"}`:                                 true,
		`{"parentUuid":null,"type":"user","message":{"role":"user","content":"long…`:      true,
		`{"type":"file-history-snapshot","messageId":"x","snapshot":{`:                    true,
		`{"type":"queue-operation","sessionId":"x"}`:                                      true,
		`{"uuid":"x","sessionId":"x","type":"user","message":{"role":"user","parts":[]}}`: false, // Qwen Code's
		`{"sessionId":"x","projectHash":"y"}`:                                             false,
		`{"type":"session_meta","payload":{}}`:                                            false,
		`{"role":"user","type":"text","content":"x"}`:                                     false,
	} {
		if got := claude.New(launch.Config{}).Recognises([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestResponses: those of sub-agents are told apart, in their own files and, of old versions, in that of the session.
func TestResponses(t *testing.T) {
	line := func(kind string, aside bool, message string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":"u","isSidechain":%v,"message":%s}`, kind, aside, message) + "\n"
	}
	answer := func(id, stop, content string) string {
		return `{"id":"` + id + `","stop_reason":"` + stop + `","content":` + content + `,"usage":{"input_tokens":9,"output_tokens":4}}`
	}
	text := line("user", false, `{"content":"go"}`) +
		line("assistant", false, answer("1", "", `[{"type":"text","text":"I look."}]`)) +
		line("assistant", false, answer("1", "tool_use", `[{"type":"tool_use","name":"Task","input":{}}]`)) +
		line("user", true, `{"content":"look"}`) +
		line("assistant", true, answer("2", "end_turn", `"seen"`)) +
		line("user", false, `{"content":[{"type":"tool_result","content":"seen"}]}`) +
		line("assistant", false, answer("3", "end_turn", `[{"type":"text","text":"done"},{"type":"server_tool_use","input":{"q":1}}]`))
	for file, want := range map[string]string{
		"main":              "main[go] I look. [Task] 9>4|subagent[look] seen [] 9>4 ends|main[look] done [] 9>4 ends",
		"subagents/agent-1": "subagent[go] I look. [Task] 9>4|subagent[look] seen [] 9>4 ends|subagent[look] done [] 9>4 ends",
	} {
		if got := agenttest.Responses(t, claude.New(launch.Config{}), file, text); got != want {
			t.Errorf("%s:\n%s, want\n%s", file, got, want)
		}
	}
}

// TestSubAgentsFiles: the responses in the file of a sub-agent tell whose they are and what it was asked.
func TestSubAgentsFiles(t *testing.T) {
	text := `{"isSidechain":true,"agentId":"a1","type":"user","message":{"role":"user","content":"look there"},"uuid":"u1","sessionId":"s"}
{"isSidechain":true,"agentId":"a1","type":"attachment","attachment":{"type":"date"},"rendered":[{"content":"a reminder"}],"uuid":"u2"}
{"isSidechain":true,"agentId":"a1","type":"assistant","attributionAgent":"Explore","message":{"id":"m1","model":"m","stop_reason":"tool_use",` +
		`"content":[{"type":"tool_use","name":"Read","input":{}}],"usage":{"input_tokens":9,"output_tokens":4}},"uuid":"u3"}
{"isSidechain":true,"agentId":"a1","type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"x"}]},"uuid":"u4"}
{"isSidechain":true,"agentId":"a1","type":"assistant","attributionAgent":"Explore","message":{"id":"m2","model":"m","stop_reason":"end_turn",` +
		`"content":[{"type":"text","text":"found"}],"usage":{"input_tokens":9,"output_tokens":2}},"uuid":"u5"}
`
	for name, c := range map[string]struct {
		file   string
		offset int64
		key    string
		first  bool
	}{
		"whole":    {"subagents/agent-a1.jsonl", 0, "a1", true},
		"appended": {"subagents/agent-a1.jsonl", 7, "a1", false},
		"main":     {"main", 0, "", true},
	} {
		all, err := claude.New(launch.Config{}).ReadUsage([]thread.Chunk{{File: c.file, Offset: c.offset, Data: []byte(text)}})
		if err != nil || len(all) != 2 {
			t.Fatalf("%s: %d, %v", name, len(all), err)
		}
		first, last := all[0], all[1]
		if first.Sub != (thread.SubAgent{Key: c.key, Type: "Explore", Told: true, First: c.first}) || first.Prompt != "look there" ||
			last.Sub != (thread.SubAgent{Key: c.key, Type: "Explore", Told: true}) || last.Text != "found" || last.Usage.Output != 2 {
			t.Errorf("%s: %+v, %+v", name, first, last)
		}
	}
}
