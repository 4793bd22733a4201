package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
)

// printed plays pieces to an answerStream and returns what it prints for people.
func printed(t *testing.T, play func(v *answerStream)) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &cli{output: newOutput(&out, &errs)}
	v := &answerStream{print: newPrinter(c, followOptions{format: "text"})}
	play(v)
	c.close()
	return out.String(), errs.String()
}

func TestAnswerStream(t *testing.T) {
	say := func(request int64, text string) thread.Speech { return thread.Speech{Request: request, Text: text} }
	done := func(request int64) thread.Speech { return thread.Speech{Request: request, Done: true} }
	cut := func(request int64) thread.Speech { return thread.Speech{Request: request, Done: true, Cut: true} }
	for name, c := range map[string]struct {
		pieces  []thread.Speech
		answers []string
		want    string
		says    string
	}{
		"as it comes":          {[]thread.Speech{say(1, "a "), say(1, "b"), done(1)}, []string{"a b"}, "a b\n", ""},
		"two responses":        {[]thread.Speech{say(1, "first"), done(1), say(2, "second\n"), done(2)}, []string{"first", "second"}, "first\nsecond\n", ""},
		"a response of tools":  {[]thread.Speech{done(1), say(2, "then"), done(2)}, []string{"then"}, "then\n", ""},
		"line breaks":          {[]thread.Speech{say(1, "\n\na\n"), say(1, "\nb"), say(1, "\n\n"), done(1)}, []string{"a\n\nb"}, "a\n\nb\n", ""},
		"nothing heard":        {nil, []string{"a", "b"}, "a\nb\n", ""},
		"end not heard":        {[]thread.Speech{say(1, "a b")}, []string{"a b c", "d"}, "a b\nc\nd\n", ""},
		"other white space":    {[]thread.Speech{say(1, "a\n\n b"), done(1)}, []string{"a b"}, "a\n\n b\n", ""},
		"a piece was missed":   {[]thread.Speech{say(1, "a "), {Request: 1, Missed: true}, say(1, "no"), done(1), say(2, "next"), done(2)}, []string{"a b", "next"}, "a \nnext\na b\nnext\n", ""},
		"cut and asked again":  {[]thread.Speech{say(1, "a"), cut(1), say(2, "a b"), done(2)}, []string{"a b"}, "a\na b\n", "retries"},
		"cut before a word":    {[]thread.Speech{cut(1), say(2, "a b"), done(2)}, []string{"a b"}, "a b\n", ""},
		"cut and not again":    {[]thread.Speech{say(1, "a"), cut(1)}, nil, "a\n", ""},
		"two at once":          {[]thread.Speech{say(1, "a "), say(2, "x "), say(1, "b"), say(2, "y"), done(1), done(2)}, []string{"a b", "x y"}, "a b\nx y\n", ""},
		"not the agent's yet":  {nil, nil, "", ""},
		"something else heard": {[]thread.Speech{say(1, "other"), done(1)}, []string{"a"}, "other\na\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr := printed(t, func(v *answerStream) {
				v.add(say(7, "in answer to another prompt"))
				v.hold()
				for i, s := range c.pieces {
					if i == len(c.pieces)/2 {
						v.accept()
					}
					v.add(s)
				}
				v.accept()
				v.finish(c.answers)
			})
			if stdout != c.want || (c.says == "") != (stderr == "") || !strings.Contains(stderr, c.says) {
				t.Errorf("printed %q, want %q; said %q", stdout, c.want, stderr)
			}
		})
	}
}

// TestVoiceForgetsWhatIsNotItsOwn has a prompt go back into the queue while something is said.
func TestVoiceForgetsWhatIsNotItsOwn(t *testing.T) {
	stdout, _ := printed(t, func(v *answerStream) {
		v.hold()
		v.add(thread.Speech{Request: 1, Text: "to somebody else"})
		v.discard()
		v.add(thread.Speech{Request: 1, Text: " and more"})
		v.add(thread.Speech{Request: 1, Done: true})
		v.hold()
		v.add(thread.Speech{Request: 2, Text: "to us"})
		v.accept()
		v.add(thread.Speech{Request: 2, Done: true})
	})
	if stdout != "to us\n" {
		t.Errorf("printed %q", stdout)
	}
}

func TestRemaining(t *testing.T) {
	for _, c := range []struct {
		answers []string
		heard   string
		want    []string
	}{
		{nil, "", nil}, {nil, "x", nil}, {[]string{"a"}, "", []string{"a"}}, {[]string{"a", " \n"}, "a", nil},
		{[]string{"één twee", "drie"}, "één t", []string{"wee", "drie"}}, {[]string{"a b c"}, "ab", []string{"c"}},
		{[]string{"a", "b", "c"}, "ab", []string{"c"}}, {[]string{"a", "b"}, "ax", []string{"b"}}, {[]string{"a"}, "abc", nil},
	} {
		if got := remaining(c.answers, c.heard); !slices.Equal(got, c.want) {
			t.Errorf("of %q after %q: %q, want %q", c.answers, c.heard, got, c.want)
		}
	}
}
