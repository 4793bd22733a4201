package summaries

import (
	"strings"
	"testing"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
)

const asked, answered = `{"role":"user","content":"go on"}`, `{"role":"assistant","content":[{"type":"text","text":"done"}]}`

// read reads a request with these items.
func read(t *testing.T, list ...string) *wire.Scan {
	t.Helper()
	body := `{"model":"claude-x","max_tokens":9,"messages":[` + strings.Join(list, ",") + `],"stream":true}`
	scan, err := anthropic.New().Scan(wire.Call{Path: "/v1/messages", Body: []byte(body)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return scan
}

// TestFind: the newest summary stands of which both ends are there, with a turn behind them.
func TestFind(t *testing.T) {
	marked := strings.Replace(answered, `"text","text"`, `"text","cache_control":{"type":"ephemeral"},"text"`, 1)
	other := strings.Replace(answered, "done", "not done", 1)
	reader := anthropic.New()
	its := items{read(t, asked, answered, asked, other, asked), reader}
	one := masks.Summary{ID: "one", Text: "1", Items: 1, First: its.hash(1), Last: its.hash(1)}
	three := masks.Summary{ID: "three", Text: "3", Items: 3, First: its.hash(1), Last: its.hash(3)}
	with := func(s masks.Summary, change func(*masks.Summary)) masks.Summary {
		change(&s)
		return s
	}
	for name, tt := range map[string]struct {
		list []string
		all  []masks.Summary
		want string
	}{
		"none":              {[]string{asked, answered, asked}, nil, ""},
		"not answered":      {[]string{asked}, []masks.Summary{one}, ""},
		"newest":            {[]string{asked, answered, asked, other, asked}, []masks.Summary{one, three}, "three"},
		"the newest one":    {[]string{asked, answered, asked, other, asked}, []masks.Summary{three, one}, "one"},
		"rewound":           {[]string{asked, answered, asked}, []masks.Summary{one, three}, "one"},
		"nothing behind":    {[]string{asked, answered}, []masks.Summary{one}, ""},
		"an answer behind":  {[]string{asked, answered, other, asked}, []masks.Summary{one}, ""},
		"another beginning": {[]string{asked, other, asked, other, asked}, []masks.Summary{one, three}, ""},
		"another end":       {[]string{asked, answered, asked, answered, asked}, []masks.Summary{three}, ""},
		"marked":            {[]string{asked, marked, asked, other, asked}, []masks.Summary{three}, "three"},
		"dropped":           {[]string{asked, answered, asked}, []masks.Summary{with(one, func(s *masks.Summary) { s.Dropped = true })}, ""},
		"without a text":    {[]string{asked, answered, asked}, []masks.Summary{with(one, func(s *masks.Summary) { s.Text = "" })}, ""},
		"without items":     {[]string{asked, answered, asked}, []masks.Summary{with(one, func(s *masks.Summary) { s.Items = 0 })}, ""},
		"far too many":      {[]string{asked, answered, asked}, []masks.Summary{with(one, func(s *masks.Summary) { s.Items = 1 << 62 })}, ""},
	} {
		scan := read(t, tt.list...)
		p := Find(scan, reader, tt.all)
		if p.Summary.ID != tt.want || p.Stands() != (tt.want != "") {
			t.Errorf("%s: %q stands", name, p.Summary.ID)
		}
		if p.Stands() && (p.Has(0) || !p.Has(1) || !p.Has(p.To-1) || p.Has(p.To) || p.Start != scan.Items[1].Start || p.End != scan.Items[p.To-1].End) {
			t.Errorf("%s: at %+v", name, p)
		}
	}
}
