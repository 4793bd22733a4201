package opencode_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/thread"
)

// TestFindSession finds the session of an agent that asks its model past the gateway, among those of others.
func TestFindSession(t *testing.T) {
	since := time.UnixMilli(1795303518500)
	const own, other, third = "ses_dff924eaeffe00000000000001", "ses_dff924eaeffe00000000000002", "ses_dff924eaeffe00000000000003"
	work := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(work, link); err != nil {
		t.Fatal(err)
	}
	type row struct {
		id, dir, parent, prompt string
		old                     bool
	}
	for name, c := range map[string]struct {
		all     []row
		prompts []string
		taken   []string
		rivals  bool
		dir     string
		want    string
	}{
		"none":                        {want: ""},
		"the only one":                {all: []row{{id: own, dir: work}}, want: own},
		"by its real folder":          {all: []row{{id: own, dir: work}}, dir: link, want: own},
		"by a link":                   {all: []row{{id: own, dir: link}}, dir: link, want: own},
		"in another folder":           {all: []row{{id: own, dir: "/elsewhere"}}, want: ""},
		"below it":                    {all: []row{{id: own, dir: work + "/sub"}}, want: ""},
		"of a sub-agent":              {all: []row{{id: own, dir: work}, {id: other, dir: work, parent: own}}, want: own},
		"from before":                 {all: []row{{id: own, dir: work, old: true}}, want: ""},
		"two":                         {all: []row{{id: own, dir: work}, {id: other, dir: work}}, want: ""},
		"two, one taken":              {all: []row{{id: own, dir: work}, {id: other, dir: work}}, taken: []string{other}, want: own},
		"taken":                       {all: []row{{id: other, dir: work}}, taken: []string{other}, want: ""},
		"a rival's, perhaps":          {all: []row{{id: other, dir: work}}, rivals: true, want: ""},
		"by its prompt":               {all: []row{{id: other, dir: work, prompt: "theirs"}, {id: own, dir: work, prompt: "do  it"}}, prompts: []string{"do it"}, rivals: true, want: own},
		"of two that were asked that": {all: []row{{id: other, dir: work, prompt: "do it"}, {id: own, dir: work, prompt: "do it"}}, prompts: []string{"do it"}, want: ""},
		"it was asked something else": {all: []row{{id: other, dir: work, prompt: "theirs"}}, prompts: []string{"do it"}, want: ""},
		"not asked yet":               {all: []row{{id: own, dir: work}}, prompts: []string{"do it"}, want: ""},
		"no id":                       {all: []row{{id: "../../x", dir: work}, {id: third, dir: work}}, want: third},
	} {
		t.Run(name, func(t *testing.T) {
			env := []string{"HOME=" + t.TempDir()}
			db := open(t, env)
			exec(t, db, schema)
			for i, r := range c.all {
				var parent any
				if r.parent != "" {
					parent = r.parent
				}
				at := since.UnixMilli() + 45
				if r.old {
					at = since.UnixMilli() - 1
				}
				exec(t, db, `INSERT INTO session VALUES (?, 'p', ?, 's', ?, 'A title', '1.18.33', 'build', NULL, NULL, ?, ?)`, r.id, parent, r.dir, at, at+1)
				if r.prompt != "" {
					message(t, db, r.id, 10*i, object{"role": "user"}, object{"type": "text", "text": r.prompt})
					message(t, db, r.id, 10*i+1, assistant("stop"), object{"type": "text", "text": fmt.Sprintf("do it, %d", i)})
				}
			}
			if c.dir == "" {
				c.dir = work
			}
			got, err := opencode.New(launch.Config{}).FindSession(t.Context(), thread.FindSpec{
				Dir: c.dir, Env: env, Since: since, Prompts: c.prompts, Rivals: c.rivals,
				Taken: func(session string) bool { return slices.Contains(c.taken, session) },
			})
			if err != nil || got != c.want {
				t.Errorf("%q %v, want %q", got, err, c.want)
			}
		})
	}
	t.Run("no database", func(t *testing.T) {
		got, err := opencode.New(launch.Config{}).FindSession(t.Context(), thread.FindSpec{Dir: work, Env: []string{"HOME=" + t.TempDir()}})
		if got != "" || err != nil {
			t.Errorf("%q %v", got, err)
		}
	})
	t.Run("a database of another layout", func(t *testing.T) {
		env := []string{"HOME=" + t.TempDir()}
		exec(t, open(t, env), `CREATE TABLE session (id text)`)
		if got, err := opencode.New(launch.Config{}).FindSession(t.Context(), thread.FindSpec{Dir: work, Env: env}); got != "" || err == nil {
			t.Errorf("%q %v", got, err)
		}
	})
}
