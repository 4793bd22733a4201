package match

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct{ patterns, text, want string }{
		{"e2e", "write E2E tests", "matched `e2e`"},
		{"e2e", "the e2e-suite", "matched `e2e`"},
		{"spec", "be specific, with respect", ""},
		{"pr", "improve the project", ""},
		{"pr", "two PRs are open", "matched `pr` in \"PRs\""},
		{"log", "update the changelog of dialog", ""},
		{"log", "logging is on", "matched `log` in \"logging\""},
		{"log", "the userLog and log_file", "matched `log`"},
		{"user", "call get_user_profile", "matched `user`"},
		{"file", "loadPDFFile fails", "matched `file`"},
		{"deploy", "it was deployed", "matched `deploy` in \"deployed\""},
		{"deploy", "deployment", ""},
		{"query", "queries, queried, querying", "matched `query` in \"queries\""},
		{"commit", "committing", "matched `commit` in \"committing\""},
		{"visit", "visited", "matched `visit` in \"visited\""},
		{"cache", "caching", "matched `cache` in \"caching\""},
		{"box", "boxes", "matched `box` in \"boxes\""},
		{"go", "it goes", "matched `go` in \"goes\""},
		{"not", "noted", ""},
		{"us", "used", ""},
		{"see", "the seed", ""},
		{"plan", "planed planning", "matched `plan` in \"planning\""},
		{"github", "on GitHub", "matched `github`"},
		{"GitHub", "on github, git-hub", "matched `GitHub`"},
		{"git", "on GitHub", "matched `git`"},
		{"typescript", "TypeScript", "matched `typescript`"},
		{"sql", "PostgreSQL", "matched `sql`"},
		{"hub", "github", ""},
		{"doc*", "documentation", "matched `doc*` in \"documentation\""},
		{"doc*", "redoc", ""},
		{"type*", "TypeScript", "matched `type*` in \"Type\""},
		{"*script", "TypeScript", "matched `*script` in \"TypeScript\""},
		{"*auth*", "reauthorized", "matched `*auth*` in \"reauthorized\""},
		{"*auth*", "a u t h", ""},
		{"pull request", "the Pull Requests", "matched `pull request` in \"Pull Requests\""},
		{"pull request*", "a pull-requester", "matched `pull request*` in \"pull-requester\""},
		{"pull request", "list_pull_requests", "matched `pull request` in \"pull_requests\""},
		{"pull request", "listPullRequest", "matched `pull request` in \"PullRequest\""},
		{"pull request", "pull the request", ""},
		{"pull request", "we pull. Request it", ""},
		{"pull request", "a pull\n\nrequest", ""},
		{"pull request", "a pull\nrequest", "matched `pull request` in \"pull request\""},
		{"end-to-end", "an end to end test", "matched `end-to-end` in \"end to end\""},
		{"next.js", "use Next.js", "matched `next.js`"},
		{`/\bc\+\+/`, "in C++", "matched `/\\bc\\+\\+/` in \"C++\""},
		{"/[A-Z]+-[0-9]+/", "see app-12", "matched `/[A-Z]+-[0-9]+/` in \"app-12\""},
		{"/(?-i:[A-Z]+-[0-9]+)/", "eu-west-1", ""},
		{"/(?-i:[A-Z]+-[0-9]+)/", "APP-1", "matched `/(?-i:[A-Z]+-[0-9]+)/` in \"APP-1\""},
		{"/$/", "x", ""},
		{"test,!unit", "add a test", "matched `test`"},
		{"test,!unit", "add unit tests", ""},
		{"!unit,test", "add unit tests", ""},
		{"test,!/unit/", "a unittest test", ""},
		{"!unit", "anything", ""},
		{"数据库", "请读数据库。", "matched `数据库`"},
		{"größe", "GRÖSSE GRÖẞE", "matched `größe`"},
		{"база", "База данных", "matched `база`"},
		{"café", "two cafés", "matched `café` in \"cafés\""},
		{"/x.y/", "x\x1by", "matched `/x.y/` in \"x" + `\u241b` + "y\""},
		{"test", strings.Repeat("no ", maxText) + "test", ""},
	} {
		p, _ := Compile(strings.Split(c.patterns, ","))
		got, ok := p.Match(c.text)
		if ok != (got != "") {
			t.Errorf("%s on %q: %q, %v", c.patterns, c.text, got, ok)
		}
		if c.text == "x\x1by" { // only that nothing reaches the terminal
			if strings.Contains(got, "\x1b") || !ok {
				t.Errorf("%q", got)
			}
			continue
		}
		if got != c.want {
			t.Errorf("%s on %.60q: %q, want %q", c.patterns, c.text, got, c.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	bad := []string{
		"", "!", "  ", "/", "//", "/a", "/(/", "/a*/", "/x{2000}/", "c++", "C#", ".net", "*", "**", "*a", "a*b", "foo-bar*", "a & b",
		strings.Repeat("x", maxPattern+1), "!!x", "\xff",
	}
	for _, s := range bad {
		if p, errs := Compile([]string{s, "fine"}); len(errs) != 1 || len(p.wanted) != 1 {
			t.Errorf("%.20q: %v, %d left", s, errs, len(p.wanted))
		}
	}
	many := strings.Split(strings.Repeat("a,", maxPatterns), ",")
	if p, errs := Compile(append(many, "b")); len(p.wanted) != maxPatterns || len(errs) == 0 {
		t.Errorf("%d patterns are compiled, %v", len(p.wanted), errs)
	}
	if _, ok := (Patterns{}).Match("anything"); ok {
		t.Error("no patterns match")
	}
}

func TestRate(t *testing.T) {
	p, _ := Compile([]string{"test", "spec", "!skip"})
	each, all := p.Rate([]string{"a test", "a spec test", "skip the test", "nothing"})
	if want := (Rate{Pattern: "test", Fired: 2, Of: 4}); each[0] != want {
		t.Errorf("%+v", each[0])
	}
	if want := (Rate{Pattern: "spec", Fired: 1, Of: 4}); each[1] != want {
		t.Errorf("%+v", each[1])
	}
	if all.Fired != 2 || all.Of != 4 {
		t.Errorf("%+v", all)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("doc*,!/x/", "documentation GitHub 数据库")
	f.Add("/\x80/", "0")
	f.Add("/a|b/,*c*,pull request", "\xff\u202ea")
	f.Fuzz(func(t *testing.T, patterns, text string) {
		p, errs := Compile(strings.Split(patterns, ","))
		for _, err := range errs {
			if !utf8.ValidString(err.Error()) {
				t.Errorf("%q", err)
			}
		}
		p.Match(text)
	})
}

func TestClip(t *testing.T) {
	for _, n := range []int{0, maxText - 1, maxText, maxText + 1, 3 * maxText} {
		for _, r := range []string{"a", "é", "界", "😀"} {
			text := clip(strings.Repeat(r, n/len(r)+1))
			if len(text) > maxText || !utf8.ValidString(text) {
				t.Errorf("%d of %s: %d bytes, valid %v", n, r, len(text), utf8.ValidString(text))
			}
		}
	}
	if text := clip(strings.Repeat("\x80", 2*maxText)); len(text) < maxText-utf8.UTFMax {
		t.Errorf("%d bytes of no text are left", len(text))
	}
}
