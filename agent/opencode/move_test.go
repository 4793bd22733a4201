package opencode

import (
	"strings"
	"testing"
)

func TestMoved(t *testing.T) {
	for name, line := range map[string]string{
		"place": `{"info":{"role":"assistant","path":{"cwd":"»/sub","root":"»"},` +
			`"time":{"created":1795303520258}},"parts":[]}`,
		"tool": `{"info":{},"parts":[{"type":"tool","tool":"write","state":{"input":{"filePath":"»/a.go",` +
			`"content":"1 < 2"},"output":"wrote »/a.go\n»/b.go, not /w/p2","title":"»/a.go"}}]}`,
		"patch": `{"info":{},"parts":[{"type":"patch","hash":"1","files":["»/a.go","/w/p2/a.go"]}]}`,
		"said": `{"info":{"role":"user"},"parts":[{"type":"text","text":"look at /w/p/a.go"},{"type":"reasoning",` +
			`"text":"/w/p"},{"type":"tool","state":{"input":{"dir":"»"}}}]}`,
		"what is not": `{"info":"/w/p","parts":`,
	} {
		t.Run(name, func(t *testing.T) {
			in, want := strings.ReplaceAll(line, "»", "/w/p"), strings.ReplaceAll(line, "»", "/w/a fork")
			if got := string(relocate([]byte(in), []string{"/w/p"}, "/w/a fork")); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
