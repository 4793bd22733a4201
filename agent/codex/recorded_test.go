package codex_test

import (
	"fmt"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/codex"
	"orchestrator/agent/launch"
)

const (
	asked    = `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}` + "\n"
	said     = `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]}}` + "\n"
	recorded = `{"type":"token_usage_record","payload":{"usage":{"input_tokens":7,"output_tokens":3}}}` + "\n"
	aborted  = `{"type":"event_msg","payload":{"type":"turn_aborted"}}` + "\n"
)

// counted is what is counted of a response, in a session with so many tokens.
func counted(total int) string {
	return fmt.Sprintf(`{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":9,"output_tokens":4},`+
		`"total_token_usage":{"total_tokens":%d}}}}`, total) + "\n"
}

// TestPieces holds what is read of each kind of line.
func TestPieces(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"counts of what it was forked from", counted(1) + asked + said + counted(2), "person text2|own text3 9>4"},
		{"counts that are repeated", asked + said + counted(1) + said + counted(1) + said + counted(2),
			"person text2|own text3 9>4|own text3 9>4|own text3"},
		{"counts that repeat a record", asked + said + recorded + said + counted(1) + said + recorded, "person text2|own text3 7>3|own text3 7>3|own text3"},
		{"a record that is damaged", asked + said + recorded + counted(1) + said + "{\n" + counted(2), "person text2|own text3 7>3|" +
			"line 6: unexpected end of JSON input|own text3 9>4"},
		{"broken off", asked + said + aborted + asked + said + counted(1), "person text2|own text3|person text2|own text3 9>4"},
		{"counts of a response that was broken off", asked + counted(1) + asked + said + said, "person text2|person text2|own text3|own text3"},
		{"went back", asked + said + counted(1) + `{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}` + "\n" + asked,
			"person text2|own text3 9>4|rewind0|person text2"},
		{"Codex's own words", `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"text":"<environment_context>"}]}}` + "\n" +
			`{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"text":"be good"}]}}`, "text21|text7"},
		{"other calls", asked + `{"type":"response_item","payload":{"type":"local_shell_call","call_id":"a","action":{"command":["ls"]}}}` + "\n" +
			`{"type":"response_item","payload":{"type":"web_search_call","action":{"query":"x"}}}` + "\n" +
			`{"type":"response_item","payload":{"type":"local_shell_call_output","call_id":"a","output":{"content":"ok","success":true}}}` + "\n",
			"person text2|own call18|own text13|result2"},
		{"pictures", `{"type":"response_item","payload":{"type":"function_call_output","call_id":"a","output":[{"type":"input_image"},{"type":"input_text","text":"so"}]}}`,
			"result2 picture"},
		{"sealed reasoning", `{"type":"response_item","payload":{"type":"reasoning","summary":[],"content":null,"encrypted_content":"12345"}}`, "own thinking5"},
		{"impossible counts", `{"type":"token_usage_record","payload":{"usage":{"output_tokens":-1}}}`, "line 1: a count of tokens that cannot be true"},
	} {
		if got := agenttest.Pieces(t, codex.New(launch.Config{}), c.text); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
}

// TestResponses: a part of a session is read as far as it tells, and what the session is based on is not its own.
func TestResponses(t *testing.T) {
	const done = `{"type":"event_msg","payload":{"type":"task_complete"}}` + "\n"
	for _, c := range []struct{ name, file, text, want string }{
		{"a turn", "main", asked + said + recorded + counted(1) + done, "main[go] yes [] 7>3 ends"},
		{"counts of what was said before", "main", counted(1) + said + counted(2) + aborted,
			"main[]  [] 9>4|main[] yes [] 9>4 ends interrupted"},
		{"a fork's parent", "base/x", asked + said + counted(1), ""},
	} {
		if got := agenttest.Responses(t, codex.New(launch.Config{}), c.file, c.text); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
}
