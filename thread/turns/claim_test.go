package turns_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/thread/turns"
)

func TestClaim(t *testing.T) {
	long := strings.Repeat("a long story about nothing in particular, ", 60)
	for name, c := range map[string]struct {
		said    string
		prompts []string
		want    []int
	}{
		"itself":                  {"fix the bug", []string{"fix the bug"}, []int{0}},
		"nothing asked":           {"fix the bug", nil, nil},
		"nothing said":            {" \n", []string{"", "fix the bug"}, nil},
		"trimmed":                 {"fix the bug", []string{"  fix the bug\n\n"}, []int{0}},
		"white space":             {"fix the\n\n  bug\tnow", []string{"fix   the bug\r\nnow"}, []int{0}},
		"control bytes":           {"fix the bug", []string{"fix\x1b the\x00 bug"}, []int{0}},
		"hidden characters":       {"fix the bug", []string{"\ufefffix\u200b the bug"}, []int{0}},
		"other scripts":           {"修正してください 👩‍👩‍👧", []string{"修正してください 👩‍👩‍👧"}, []int{0}},
		"other words":             {"fix the bug", []string{"fix the bugs"}, nil},
		"longer than asked":       {"fix the bug in foo as well", []string{"fix the bug"}, nil},
		"end of another":          {"please do not fix the bug", []string{"fix the bug"}, nil},
		"inside another line":     {"a\nyou need not fix the bug now\nb", []string{"fix the bug"}, nil},
		"the same twice":          {"continue", []string{"continue", "continue"}, []int{0}},
		"two that waited":         {"first this\nthen that", []string{"first this", "then that"}, []int{0, 1}},
		"two that waited, apart":  {"first this\n\nthen that\n", []string{"then that", "first this"}, []int{0, 1}},
		"two alike that waited":   {"continue\ncontinue", []string{"continue", "continue", "continue"}, []int{0, 1}},
		"one of them":             {"first this\nthen that", []string{"then that", "something else"}, []int{0}},
		"lines within longer one": {"fix\nthe bug", []string{"the bug", "fix\nthe bug"}, []int{1}},
		"shares lines":            {"fix\nthe bug\nplease", []string{"the bug", "fix the bug"}, []int{1}},
		"text before":             {"Remember: be brief.\n\nfix the bug", []string{"fix the bug"}, []int{0}},
		"text after":              {"fix the bug\n\nToday is Monday.", []string{"fix the bug"}, []int{0}},
		"primer before":           {"You continue the work.\n## So far\n- this\n\nfix\nthe bug", []string{"fix the bug"}, []int{0}},
		"reflowed before text":    {"Context.\nfix the\nbug now", []string{"fix the bug now"}, []int{0}},
		"file kept":               {"explain @a.go to me\n--- Content from referenced files ---\npackage a", []string{"explain @a.go to me"}, []int{0}},
		"file in its place":       {"explain package a; func A() {} to me please", []string{"explain @a.go to me please"}, []int{0}},
		"two files":               {"compare AAA bb with BBB cc carefully", []string{"compare @a with @b carefully"}, []int{0}},
		"file at the end":         {"please explain this: package a", []string{"please explain this: @a.go"}, []int{0}},
		"file, other words after": {"explain package a to me please", []string{"explain @a.go to him please"}, nil},
		"file, too little else":   {"do package a", []string{"do @a.go"}, nil},
		"not a file":              {"explain to me please now", []string{"explain to @ me please"}, nil},
		"slash command":           {"/review main", []string{"/review main"}, []int{0}},
		"slash command's text":    {"Review the changes on main.", []string{"/review main"}, nil},
		"cut":                     {long[:500], []string{long}, []int{0}},
		"cut too early":           {long[:100], []string{long}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := turns.Claim(c.said, c.prompts); !slices.Equal(got, c.want) {
				t.Errorf("%q of %q: %v, want %v", c.said, c.prompts, got, c.want)
			}
		})
	}
}

// TestClaimIsQuick claims a prompt of a megabyte among a thousand.
func TestClaimIsQuick(t *testing.T) {
	prompts := make([]string, 1000)
	for i := range prompts {
		prompts[i] = fmt.Sprintf("prompt %d", i)
	}
	said := strings.Repeat("some line of a very long text\n", 1<<20/30) + "prompt 999"
	took := func(prompts []string, want int) time.Duration {
		begin := time.Now()
		if got := turns.Claim(said, prompts); !slices.Equal(got, []int{want}) {
			t.Errorf("claimed %v", got)
		}
		return time.Since(begin)
	}
	few := took(prompts[990:], 9)
	for range 3 { // whatever else the machine does in one of them
		if took(prompts, 999) < 40*few {
			return
		}
	}
	t.Errorf("a hundred times as many prompts take more than 40 times as long as %v", few)
}

func TestSame(t *testing.T) {
	long := strings.Repeat("0123456789", 300)
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"x", " x ", true}, {"x", "y", false}, {long[:2000], long, true}, {long, long[:2000], true},
		{long[:50], long, false}, {"", "", true}, {"", "x", false},
	} {
		if got := turns.Same(c.a, c.b); got != c.want {
			t.Errorf("%.20q and %.20q: %v", c.a, c.b, got)
		}
	}
}

func TestCommand(t *testing.T) {
	for prompt, want := range map[string]bool{
		"/clear": true, "/review main": true, " /model\n": true, "/ns:cmd x": true, "!ls": true, "! ls -l": true, "# remember this": true,
		"/": false, "/tmp/x is broken": false, "fix /clear": false, "": false, "#": false, "what is 1/2?": false,
	} {
		if got := turns.Command(prompt); got != want {
			t.Errorf("%q: %v", prompt, got)
		}
	}
}

func TestRest(t *testing.T) {
	for name, c := range map[string]struct {
		r    turns.Idle
		want turns.Verdict
		wait time.Duration
	}{
		"just taken":        {turns.Idle{Text: "fix it"}, turns.Wait, turns.AfterNothing},
		"nothing came":      {turns.Idle{Text: "fix it", For: turns.AfterNothing}, turns.Refused, 0},
		"command":           {turns.Idle{Text: "/clear", For: turns.AfterCommand}, turns.Taken, 0},
		"command, too soon": {turns.Idle{Text: "/clear", For: time.Second}, turns.Wait, turns.AfterCommand - time.Second},
		"command asked":     {turns.Idle{Text: "/review", For: time.Minute, Requests: 1}, turns.Interrupted, 0},
		"stopped":           {turns.Idle{Text: "fix it", For: turns.AfterRequest, Requests: 1}, turns.Interrupted, 0},
		"failed":            {turns.Idle{Text: "fix it", For: turns.AfterRequest, Requests: 3, Failure: "status 401"}, turns.Refused, 0},
		"failed just now":   {turns.Idle{Text: "fix it", Requests: 3, Failure: "status 401"}, turns.Wait, turns.AfterRequest},
	} {
		t.Run(name, func(t *testing.T) {
			got, reason, wait := turns.Judge(c.r)
			if got != c.want || wait != c.wait || (got == turns.Wait) != (reason == "") {
				t.Errorf("%q %q after %v", got, reason, wait)
			}
		})
	}
}
