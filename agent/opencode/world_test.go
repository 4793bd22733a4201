package opencode_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/thread"
)

// TestWorldFiles puts addresses into each of opencode's files.
func TestWorldFiles(t *testing.T) {
	const company = "https://models.corp.example/x"
	open := func(base string) string {
		return "\xef\xbb\xbf" + `{"model":"fm/m", /* ours */ "provider":{"fm":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"` + base + `"}},},}`
	}
	at := open(company + "/v1")
	agenttest.Surround(t, opencode.New(launch.Config{}), []agenttest.Around{
		{Name: "user", Files: map[string]string{"home/.config/opencode/opencode.json": at}, Want: company},
		{Name: "user, with comments", Files: map[string]string{"home/.config/opencode/opencode.jsonc": at}, Want: company},
		{Name: "moved", Files: map[string]string{"x/opencode/config.json": at}, Env: []string{"XDG_CONFIG_HOME=ROOT/x"}, Want: company},
		{Name: "named", Files: map[string]string{"c.json": at, "home/.config/opencode/opencode.json": open("http://a/v1")},
			Env: []string{"OPENCODE_CONFIG=ROOT/c.json"}, Want: company},
		{Name: "project wins", Files: map[string]string{"work/opencode.json": at, "home/.config/opencode/opencode.json": open("http://a/v1")}, Want: company},
		{Name: "folder wins", Files: map[string]string{"work/.opencode/opencode.jsonc": at, "work/opencode.json": open("http://a/v1")}, Want: company},
		{Name: "home's folder", Files: map[string]string{"home/.opencode/opencode.json": at}, Want: company},
		{Name: "another folder", Files: map[string]string{"d/opencode.json": at}, Env: []string{"OPENCODE_CONFIG_DIR=ROOT/d"}, Want: company},
		{Name: "content", Files: map[string]string{"work/opencode.json": open("http://a/v1")}, Env: []string{"OPENCODE_CONFIG_CONTENT=" + strings.TrimPrefix(at, "\xef\xbb\xbf")}, Want: company},
		{Name: "project is off", Files: map[string]string{"work/opencode.json": open("http://evil/v1"), "home/.config/opencode/opencode.json": at},
			Env: []string{"OPENCODE_DISABLE_PROJECT_CONFIG=1"}, Want: company},
		{Name: "variable", Files: map[string]string{"work/opencode.json": open("{env:CORP}/v1")}, Env: []string{"CORP=" + company}, Want: company},
		{Name: "file", Files: map[string]string{"work/opencode.json": open("{file:./a}"), "work/a": company + "/v1\n"}, Want: company},
		{Name: "missing file", Files: map[string]string{"work/opencode.json": open("{file:./a}")}, Fails: "/a"},
		{Name: "managed", Files: map[string]string{"m/opencode.json": at}, Env: []string{"OPENCODE_TEST_MANAGED_CONFIG_DIR=ROOT/m"}, Aside: "nothing outranks it"},
		{Name: "organisation by login", Files: map[string]string{"work/opencode.json": at, "home/.local/share/opencode/auth.json": `{"https://corp":{"type":"wellknown"}}`}, Aside: "organisation"},
		{Name: "organisation by variable", Files: map[string]string{"work/opencode.json": at}, Env: []string{`OPENCODE_AUTH_CONTENT={"https://corp":{"type":"wellknown"}}`}, Aside: "organisation"},
		{Name: "broken", Files: map[string]string{"work/opencode.json": "{"}, Fails: "opencode.json"},
		{Name: "no database", Files: map[string]string{"work/opencode.json": at, "home/.local/share/opencode/opencode.db": "not one, and longer than a header of one is, by a bit more than is needed for that"}, Fails: "opencode.db"},
	})
}

// TestWorldOfOrganisation has the person choose an organisation in opencode's console, whose configuration is fetched.
func TestWorldOfOrganisation(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	agenttest.Put(t, filepath.Join(dir, "opencode.json"), `{"provider":{"fm":{"options":{"baseURL":"https://models.corp.example/v1"}}}}`)
	path := filepath.Join(home, ".local", "share", "opencode", "opencode.db")
	agenttest.Put(t, path, "")
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, c := range []struct {
		do    string
		aside bool
	}{
		{`CREATE TABLE session (id text)`, false},
		{`CREATE TABLE account_state (id integer PRIMARY KEY, active_account_id text, active_org_id text)`, false},
		{`INSERT INTO account_state VALUES (1, 'a', NULL)`, false},
		{`UPDATE account_state SET active_org_id = 'corp'`, true},
	} {
		if _, err := db.Exec(c.do); err != nil {
			t.Fatal(err)
		}
		w, err := opencode.New(launch.Config{}).World(thread.WorldSpec{Dir: dir, Env: []string{"HOME=" + home}})
		if err != nil || (w.Aside != "") != c.aside || c.aside && !strings.Contains(w.Aside, "organisation") {
			t.Errorf("%s: %+v %v", c.do, w, err)
		}
	}
}

// TestWorldOddFiles has its configuration in what is no file.
func TestWorldOddFiles(t *testing.T) {
	dir := t.TempDir()
	spec := thread.WorldSpec{Dir: dir, Env: []string{"HOME=" + t.TempDir(), "OPENAI_API_KEY=x"}}
	agenttest.OddFiles(t, opencode.New(launch.Config{}), spec, filepath.Join(dir, "opencode.json"))
}
