package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"orchestrator/agent/agenttest/clis"
)

// decoy is a proxy that takes everything and passes on nothing: what arrives there would have left this machine.
type decoy struct {
	*httptest.Server
	mu    sync.Mutex
	heard bytes.Buffer
	hosts []string
}

func newDecoy(t *testing.T) *decoy {
	d := &decoy{}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.hosts = append(d.hosts, r.Method+" "+r.Host)
		_ = r.Header.Write(&d.heard)
		_, _ = io.Copy(&d.heard, r.Body)
		fmt.Fprintf(&d.heard, "%s\n", r.URL)
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(d.Close)
	return d
}

// env returns the variables of somebody behind it who knows nothing of NO_PROXY.
func (d *decoy) env() []string {
	var all []string
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		all = append(all, name+"="+d.URL)
	}
	return all
}

// vendors are the hosts of the models' public providers.
var vendors = []string{"api.anthropic.com", "api.openai.com", "chatgpt.com", "generativelanguage.googleapis.com"}

// check fails if anything that is nobody's business arrived.
func (d *decoy) check(t *testing.T, secrets ...string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, secret := range append(secrets, "/t/", "127.0.0.1:", "Orchestrator-Secret") {
		if at := strings.Index(d.heard.String(), secret); at >= 0 {
			t.Errorf("the proxy heard %q", secret)
		}
	}
	for _, host := range d.hosts {
		for _, vendor := range vendors {
			if strings.Contains(host, vendor) {
				t.Errorf("the proxy was asked for %s", host)
			}
		}
		if strings.Contains(host, "127.0.0.1") || strings.Contains(host, "localhost") {
			t.Errorf("the proxy was asked for this machine: %s", host)
		}
	}
	t.Logf("the proxy was asked for %q", slices.Compact(slices.Sorted(slices.Values(d.hosts))))
}

// stand is a file or argument in which people put the address of their model.
type stand struct {
	cli, name string
	home      map[string]string // files below the home folder, the project's root, and more arguments; %s is the address
	project   map[string]string
	env       []string
	args      []string
}

func places() []stand {
	const settings = `{"env":{"ANTHROPIC_BASE_URL":"%s"}}`
	return []stand{
		{cli: "claude", name: "project", project: map[string]string{".claude/settings.json": settings}},
		{cli: "claude", name: "local", project: map[string]string{".claude/settings.local.json": settings}},
		{cli: "claude", name: "argument", args: []string{"--settings", settings}},
		{cli: "claude", name: "proxy in settings", home: map[string]string{".claude/settings.json": `{"skipDangerousModePermissionPrompt":true,` +
			`"env":{"ANTHROPIC_BASE_URL":"%s","HTTP_PROXY":"PROXY","HTTPS_PROXY":"PROXY","NO_PROXY":"corp"}}`}},
		{cli: "codex", name: "argument", args: []string{"-c", `openai_base_url="%s/v1"`}},
		{cli: "codex", name: "profile", home: map[string]string{".codex/work.config.toml": "openai_base_url = \"%s/v1\"\n"}, args: []string{"--profile", "work"}},
		{cli: "gemini", name: "project", project: map[string]string{".env": "export GOOGLE_GEMINI_BASE_URL='%s' # ours\nNO_PROXY=corp\n"}},
		{cli: "gemini", name: "folder", project: map[string]string{".gemini/.env": "GOOGLE_GEMINI_BASE_URL=%s\nHTTPS_PROXY=PROXY\n", ".env": "GOOGLE_GEMINI_BASE_URL=http://wrong.invalid"}},
		{cli: "opencode", name: "project", project: map[string]string{"opencode.jsonc": `{"model":"fm/fake-1", // ours
			"provider":{"fm":{"npm":"@ai-sdk/openai-compatible","name":"fm","options":{"baseURL":"%s/v1","apiKey":"x"},
			"models":{"fake-1":{"name":"Fake 1","limit":{"context":100000,"output":8000}}}}}}`}},
	}
}

// TestRealWorld has the address of a company's model in each place, behind a proxy that must hear nothing.
func TestRealWorld(t *testing.T) {
	for _, p := range places() {
		t.Run(p.cli+" "+p.name, func(t *testing.T) {
			all := clis.All()
			r := newRealRig(t, all[slices.IndexFunc(all, func(c clis.CLI) bool { return c.Name == p.cli })])
			d := newDecoy(t)
			r.env = slices.DeleteFunc(r.env, func(kv string) bool {
				name, _, _ := strings.Cut(kv, "=")
				return strings.HasSuffix(name, "_BASE_URL") || strings.HasSuffix(strings.ToLower(name), "_proxy")
			})
			r.env = append(append(r.env, d.env()...), p.env...)
			company := r.model.URL() + "/company"
			fill := func(text string) string {
				return strings.ReplaceAll(strings.ReplaceAll(text, "%s", company), "PROXY", d.URL)
			}
			config := filepath.Join(r.home, ".codex", "config.toml")
			if raw, err := os.ReadFile(config); err == nil { // the rig's own address
				keep := slices.DeleteFunc(strings.Split(string(raw), "\n"), func(l string) bool { return strings.HasPrefix(l, "openai_base_url") })
				if err := os.WriteFile(config, []byte(strings.Join(keep, "\n")), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if p.cli == "opencode" {
				if err := os.Remove(filepath.Join(r.home, ".config", "opencode", "opencode.json")); err != nil {
					t.Fatal(err)
				}
			}
			for root, files := range map[string]map[string]string{r.home: p.home, r.project: p.project} {
				for name, text := range files {
					path := filepath.Join(root, name)
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(fill(text)), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			args := []string{"new", "-a", p.cli, "-m", r.cli.Model}
			if r.cli.Mode != "" {
				args = append(args, "--permission-mode", r.cli.Mode)
			}
			if args = append(args, "company"); len(p.args) > 0 {
				args = append(args, "--")
				for _, a := range p.args {
					args = append(args, fill(a))
				}
			}
			name := r.ok(args...)
			r.ok("send", name, "private-prompt #usage:1001,20,0,7 #say:the answer")
			q := r.request("private-prompt")
			if !strings.HasPrefix(q.Path, "/company/") {
				t.Errorf("the model was asked at %s", q.Path)
			}
			s := r.status(name)
			if s.Turn != 1 || s.Aside != "" || s.Gauge.Source == "transcript" || s.Gauge.Tokens != 1001+20+7 {
				t.Errorf("turn %d, aside %q, gauge %+v", s.Turn, s.Aside, s.Gauge)
			}
			d.check(t, "private-prompt", "dummy", "Bearer")
		})
	}
}
