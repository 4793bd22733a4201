package wire_test

import (
	"strings"
	"testing"

	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/wiretest"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

func TestPersonText(t *testing.T) {
	for in, want := range map[string]string{
		"hello": "hello",
		"  \n ": "",
		"<system-reminder>\nx\n</system-reminder>": "",
		"<system-reminder>a</system-reminder>\n" +
			"<system-reminder>b</system-reminder>\nhello": "hello",
		"hello\n<system-reminder>\nb\n</system-reminder>":                           "hello",
		"what does <system-reminder> do?":                                           "what does <system-reminder> do?",
		"<system-reminder>never closed":                                             "",
		"hello\n<system-reminder>never closed":                                      "hello\n<system-reminder>never closed",
		"<environment_context>\n <cwd>/x</cwd>\n</environment_context>":             "",
		"<session_context>\nThis is the Gemini CLI.\n</session_context>":            "",
		"<current_datetime>2026</current_datetime>\n\ndo it":                        "do it",
		"[Request interrupted by user for tool use]":                                "",
		"This session is being continued from a previous conversation that ran out": "",
		"# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\na\n</INSTRUCTIONS>":     "",
		"<command-message>init</command-message>\n<command-name>/init</command-name>\n" +
			"<command-args>now</command-args>": "/init now",
		"<command-name>/clear</command-name>":                                           "/clear",
		"<local-command-stdout>x</local-command-stdout>":                                "",
		"<b>bold</b> move":                                                              "<b>bold</b> move",
		"\n\n<pasted_content id=\"8cc7\">\nmuch\ntext\n</pasted_content id=\"8cc7\">\n": "much\ntext",
		"see:\n<pasted_content id=\"1\">\na\n</pasted_content id=\"1\">\n" +
			"<pasted_content id=\"2\">\nb\n</pasted_content id=\"2\">": "see:\na\nb",
		"<pasted_content id=\"1\">\n" +
			"</pasted_content id=\"2\"> is mine": "<pasted_content id=\"1\">\n</pasted_content id=\"2\"> is mine",
		"a <system-reminder>x</system-reminder> b\n" +
			"<reminder>y</reminder>\nc": "a <system-reminder>x</system-reminder> b\n\nc",
		strings.Repeat("<system-reminder>x</system-reminder>\n", 1000) + "the end": "the end",
	} {
		if got := wire.PersonText(in); got != want {
			t.Errorf("PersonText(%q) = %q, want %q", plaintext.Cut(in, 80), got, want)
		}
	}
}

func TestPersonOfSeveralMessages(t *testing.T) {
	const stop = "[Request interrupted by user]"
	for want, texts := range map[string][]string{
		"third": {"This session is being continued from a previous conversation", "<command-name>/compact</command-name>",
			"<local-command-stdout>Compacted</local-command-stdout>", "third"},
		"/model":  {"<command-name>/model</command-name>", "<local-command-stdout>x</local-command-stdout>"},
		"new":     {"old", stop, "new"},
		"old":     {"old", stop},
		"a\nb":    {"a", "<system-reminder>x</system-reminder>", "b"},
		"":        {stop, "<system-reminder>x</system-reminder>"},
		"after":   {stop + " for tool use", "after"},
		"command": {"command"},
	} {
		var p wire.Person
		for _, text := range texts {
			p.Add(text)
		}
		if got := p.Text(); got != want {
			t.Errorf("%q: %q, want %q", texts, got, want)
		}
	}
}

func FuzzPersonText(f *testing.F) {
	wiretest.Quick(f)
	f.Add("<system-reminder>a</system-reminder>\nb<skill>")
	f.Add("<command-name></command-name><reminder></reminder>")
	f.Fuzz(func(t *testing.T, s string) {
		got := wire.PersonText(s)
		if len(got) > len(s)+1 {
			t.Fatalf("%q became %q", s, got)
		}
		if !strings.ContainsAny(s, "<[") && !strings.Contains(s, ":") && got != strings.TrimSpace(s) && got != "" {
			t.Fatalf("%q became %q though no agent wrote in it", s, got)
		}
	})
}

func TestErrorText(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`: "overloaded_error: Overloaded",
		`{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}`:      "RESOURCE_EXHAUSTED: quota",
		`[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}]`:    "RESOURCE_EXHAUSTED: quota",
		`{"error":{"message":"bad key","type":null,"code":"invalid_api_key"}}`:        "invalid_api_key: bad key",
		`{"error":"plain"}`: "plain", `{"message":"m"}`: "m", `{"detail":"d"}`: "d",
		`{}`: "", `null`: "", ``: "", `[]`: "", `{"error":null}`: "", `<html>`: "",
	} {
		if got := wire.ErrorText([]byte(in)); got != want {
			t.Errorf("ErrorText(%s) = %q, want %q", in, got, want)
		}
	}
}

func TestReadersOfMixedConversations(t *testing.T) {
	one := reader{"a"}
	rs := wire.Readers{"a": one, "b": reader{"b"}}
	items := []thread.Item{{Wire: "a"}, {Wire: "b"}, {Wire: "b"}, {Wire: "x"}, {Wire: "a"}}
	var got []string
	for _, e := range rs.Entries(items) {
		got = append(got, e.Text)
	}
	if s := strings.Join(got, ","); s != "a1,b2,"+wire.Unreadable().Text+",a1" {
		t.Errorf("entries %s", s)
	}
	if turns := rs.Turns(items); len(turns) != 3 || turns[0] != 0 || turns[1] != 1 || turns[2] != 4 {
		t.Errorf("turns %v", turns)
	}
}

// reader says how long its runs were and begins a turn with each.
type reader struct{ name string }

func (r reader) Entries(items []thread.Item) []thread.Entry {
	return []thread.Entry{{Text: r.name + string(rune('0'+len(items)))}}
}
func (reader) Turns([]thread.Item) []int { return []int{0} }
