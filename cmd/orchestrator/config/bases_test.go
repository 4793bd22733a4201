package config

import (
	"reflect"
	"strings"
	"testing"

	"orchestrator/thread"
)

func TestBases(t *testing.T) {
	for _, c := range []struct {
		name, user, project string
		env                 []string
		want                thread.BaseConfig
		err                 []string
	}{
		{name: "nothing"},
		{name: "all", user: "[context.base]\nprofile = \"mine\"\nstarted = \"minimal\"\n[context.base.agents]\nclaude = \"slim\"\n" +
			"[context.base.profiles.mine]\nfrom = \"slim\"\nkeep = [\"loops\"]\nleave_out = [\"WebFetch\", \"mcp__x__*\"]\n",
			want: thread.BaseConfig{Profile: "mine", Started: "minimal", Agents: map[string]string{"claude": "slim"},
				Profiles: map[string]thread.OwnBase{"mine": {From: "slim", Keep: []string{"loops"}, LeaveOut: []string{"WebFetch", "mcp__x__*"}}}}},
		{name: "a variable", env: []string{"ORCHESTRATOR_CONTEXT_BASE_PROFILE=slim"}, want: thread.BaseConfig{Profile: "slim"}},
		{name: "a profile that there is not", user: "[context.base]\nprofile = \"lean\"\n",
			err: []string{"context.base.profile", `base "lean"`, "no such profile", "full, slim, read-only, minimal"}},
		{name: "of an agent", user: "[context.base.agents]\ncodex = \"gone\"\n", err: []string{"context.base.agents.codex", `"gone"`}},
		{name: "of a way to start", user: "[profiles.x]\nagent = \"demo\"\nbase = \"gone\"\n", err: []string{`profiles."x".base`, `"gone"`}},
		{name: "no name of a profile", user: "\n[context.base.agents]\ncodex = 3\n", err: []string{"config.toml:3", "must be the name of a profile"}},
		{name: "a taken name", user: "[context.base.profiles.slim]\nfrom = \"full\"\n", err: []string{"config.toml:1", "Take another name"}},
		{name: "a bad name", user: "[context.base.profiles.\"a\\u0007b\"]\nfrom = \"full\"\n", err: []string{"letters, digits"}},
		{name: "from one's own", user: "[context.base.profiles.a]\nfrom = \"b\"\n", err: []string{"config.toml:2", "must be one of full, slim"}},
		{name: "no list", user: "[context.base.profiles.a]\nfrom = \"slim\"\nkeep = \"x\"\n", err: []string{"config.toml:3", "must be a list"}},
		{name: "no name of a tool", user: "[context.base.profiles.a]\nleave_out = [\"a b\"]\n", err: []string{"config.toml:2", "not the name of a switch or a tool"}},
		{name: "an unknown key", user: "[context.base.profiles.a]\nform = \"slim\"\n", err: []string{"config.toml:2", `unknown key "form"`}},
		{name: "an empty profile", user: "[context.base.profiles.a]\nkeep = [\"x\"]\n", err: []string{"leaves nothing out"}},
		{name: "no tables", user: "[context.base]\nprofiles = 3\n", err: []string{"config.toml:2", "must be a table"}},
		{name: "unknown", user: "[context.base]\nstart = \"slim\"\n", err: []string{"config.toml:2", `no setting "context.base.start"`, "context.base.started"}},
		{name: "of a repository", project: "[context.base]\nprofile = \"minimal\"\n", err: []string{".orchestrator.toml:", "your own configuration"}},
	} {
		home, root := t.TempDir(), t.TempDir()
		write(t, PersonFile(home), c.user)
		if c.project != "" {
			write(t, ProjectFile(root), c.project)
		}
		got, err := Load(root, c.env, home, always)
		for _, part := range c.err {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: error %v lacks %q", c.name, err, part)
			}
		}
		if len(c.err) == 0 && (err != nil || !reflect.DeepEqual(got.Base, c.want)) {
			t.Errorf("%s: %+v, %v", c.name, got.Base, err)
		}
	}
}
