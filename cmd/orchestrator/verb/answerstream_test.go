package verb

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
	c := &cli{out: newOutput(&out, &errs)}
	v := &answerStream{print: newPrinter(c, followOptions{}), prompt: "the prompt"}
	play(v)
	c.out.close()
	return out.String(), errs.String()
}

func TestAnswerStream(t *testing.T) {
	say := func(request int64, text string) thread.Speech { return thread.Speech{Request: request, Text: text} }
	asked := func(request int64, said, text string) thread.Speech {
		return thread.Speech{Request: request, Said: said, Text: text}
	}
	mine := func(request int64, text string) thread.Speech { return asked(request, "the prompt", text) }
	done := func(request int64) thread.Speech { return thread.Speech{Request: request, Done: true} }
	ends := func(request int64) thread.Speech { return thread.Speech{Request: request, Done: true, Ends: true} }
	cut := func(request int64) thread.Speech { return thread.Speech{Request: request, Done: true, Cut: true} }
	missed := func(request int64) thread.Speech { return thread.Speech{Request: request, Missed: true} }
	for name, c := range map[string]struct {
		pieces  []thread.Speech
		answers []string
		want    string
		says    string
	}{
		"as it comes":                 {[]thread.Speech{mine(1, "a "), say(1, "b"), ends(1)}, []string{"a b"}, "a b\n", ""},
		"two responses":               {[]thread.Speech{mine(1, "first"), done(1), say(2, "second\n"), ends(2)}, []string{"first", "second"}, "first\nsecond\n", ""},
		"two texts in one":            {[]thread.Speech{mine(1, "first\n\nsecond"), ends(1)}, []string{"first", "second"}, "first\n\nsecond\n", ""},
		"a response of tools":         {[]thread.Speech{mine(1, ""), done(1), say(2, "then"), ends(2)}, []string{"then"}, "then\n", ""},
		"line breaks":                 {[]thread.Speech{mine(1, "\n\na\n"), say(1, "\nb"), say(1, "\n\n"), ends(1)}, []string{"a\n\nb"}, "a\n\nb\n", ""},
		"nothing heard":               {nil, []string{"a", "b"}, "a\nb\n", ""},
		"end not heard":               {[]thread.Speech{mine(1, "a b")}, []string{"a b c", "d"}, "a b c\nd\n", ""},
		"other white space":           {[]thread.Speech{mine(1, "a\n\n b"), ends(1)}, []string{"a b"}, "a\n\n b\n", ""},
		"a piece was missed":          {[]thread.Speech{mine(1, "a "), missed(1), say(1, "no"), done(1), say(2, "next"), ends(2)}, []string{"a b", "next"}, "a b\nnext\n", ""},
		"the first was missed":        {[]thread.Speech{missed(1), done(1), say(2, "next"), ends(2)}, []string{"a b", "next"}, "a b\nnext\n", ""},
		"cut and asked again":         {[]thread.Speech{mine(1, "a"), cut(1), mine(2, "a b"), ends(2)}, []string{"a b"}, "a\na b\n", "retries"},
		"cut before a word":           {[]thread.Speech{mine(1, ""), cut(1), mine(2, "a b"), ends(2)}, []string{"a b"}, "a b\n", ""},
		"cut and not again":           {[]thread.Speech{mine(1, "a"), cut(1)}, nil, "a\n", ""},
		"two at once":                 {[]thread.Speech{mine(1, "a "), say(2, "x "), say(1, "b"), say(2, "y"), done(1), ends(2)}, []string{"a b", "x y"}, "a b\nx y\n", ""},
		"not the agent's yet":         {nil, nil, "", ""},
		"it goes on by itself before": {[]thread.Speech{say(1, "a sub-agent ended"), ends(1), mine(2, "a"), ends(2)}, []string{"a"}, "a\n", ""},
		"it goes on by itself after":  {[]thread.Speech{mine(1, "a"), ends(1), say(2, "a sub-agent ended"), ends(2)}, []string{"a"}, "a\n", ""},
		"another prompt before":       {[]thread.Speech{asked(1, "another", "its answer"), ends(1), mine(2, "a"), ends(2)}, []string{"a"}, "a\n", ""},
		"another prompt between":      {[]thread.Speech{mine(1, "a"), done(1), asked(2, "another", "b"), done(2), say(3, "c"), ends(3)}, []string{"a", "b", "c"}, "a\nb\nc\n", ""},
		"two at once, one another's":  {[]thread.Speech{asked(1, "another", "x"), mine(2, "a "), say(1, "y"), say(2, "b"), done(1), ends(2)}, []string{"a b"}, "a b\n", ""},
		"beside another prompt":       {[]thread.Speech{asked(1, "another\n\nthe prompt", "both"), ends(1)}, []string{"both"}, "both\n", ""},
		"words not recognised":        {[]thread.Speech{asked(1, "what a command was made", "a"), ends(1)}, []string{"a"}, "a\n", ""},
		"nothing of it is the turn's": {[]thread.Speech{mine(1, "other"), ends(1)}, []string{"a"}, "other\na\n", ""},
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
		v.add(thread.Speech{Request: 2, Said: "the prompt", Text: "to us"})
		v.accept()
		v.add(thread.Speech{Request: 2, Done: true})
	})
	if stdout != "to us\n" {
		t.Errorf("printed %q", stdout)
	}
}

func TestRemaining(t *testing.T) {
	for _, c := range []struct {
		answers, printed, want []string
	}{
		{nil, nil, nil}, {nil, []string{"x"}, nil}, {[]string{"a"}, nil, []string{"a"}}, {[]string{"a", " \n"}, []string{"a"}, nil},
		{[]string{"één twee", "drie"}, []string{"één t"}, []string{"wee", "drie"}}, {[]string{"a b c"}, []string{"ab"}, []string{" c"}},
		{[]string{"a b c"}, []string{"a b "}, []string{"c"}}, {[]string{"a", "b", "c"}, []string{"ab"}, []string{"c"}},
		{[]string{"a", "b"}, []string{"a", "x"}, []string{"b"}}, {[]string{"a"}, []string{"abc"}, []string{"a"}},
		{[]string{"before", "a"}, []string{"a"}, []string{"before"}}, {[]string{"a", "b", "a"}, []string{"a", "a"}, []string{"b"}},
		{[]string{"a", "bc"}, []string{"a", "b"}, []string{"c"}}, {[]string{"ab", "c"}, []string{"a", "c"}, []string{"ab"}},
	} {
		if got := remaining(c.answers, c.printed); !slices.Equal(got, c.want) {
			t.Errorf("of %q after %q: %q, want %q", c.answers, c.printed, got, c.want)
		}
	}
}
