package masking_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"orchestrator/contextmgr/masking"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// TestReported: with each request of the conversation people hear how large it is, by how much that may be wrong, and how
// much masks leave out; of a side request nothing is left out for them.
func TestReported(t *testing.T) {
	p := passing(t, formats()[0], 100_000)
	sent := p.talk(60)
	begun, over := p.newest()
	size, masked := int64(len(sent))/4, int64(len(stubs(sent))*(len(text(0, 1500))/4-50))
	if begun.Context < size*9/10 || begun.Context > size*11/10 || begun.Masked != masked {
		t.Errorf("%d tokens are sent and %d masked; people hear of %d and %d", size, masked, begun.Context, begun.Masked)
	}
	if begun.Margin != 0.05 || over.Masked != begun.Masked || over.SavedUSD == 0 {
		t.Errorf("people hear of %+v, then of %d masked tokens that saved $%f", begun, over.Masked, over.SavedUSD)
	}
	p.path = "/v1/messages/count_tokens"
	p.ask(p.conversation())
	if begun, over := p.newest(); over.Main || begun.Masked+over.Masked+begun.Context != 0 || over.SavedUSD != 0 {
		t.Errorf("a token count reports %+v, then %d masked tokens", begun, over.Masked)
	}
}

// TestSessionChangesItsModel: another model in the same session loses the cache, one in another session does not.
func TestSessionChangesItsModel(t *testing.T) {
	for _, session := range []string{"one", "two"} {
		w := open(t, formats()[0], policy.ModeLean)
		w.window, w.session = 200_000, "one"
		w.items = []string{w.person("fix the bug")}
		for i := range 20 {
			w.step(i, 1000)
			w.send("t1")
		}
		w.session, w.model = session, "claude-opus-4-6"
		if got := strings.Contains(w.send("t1"), "[Masked: "); got != (session == "one") {
			t.Errorf("with another model, in session %s: masked %v", session, got)
		}
	}
}

// TestRefusedIsShown: people see what fills a request that is refused.
func TestRefusedIsShown(t *testing.T) {
	w := open(t, formats()[0], policy.ModeSafe)
	w.wayOut = "Fork it."
	w.items = []string{w.person("fix the bug " + text(0, 20_000))}
	for i := range 4 {
		w.step(i, 10)
	}
	w.send("t1")
	messages := func() int {
		t.Helper()
		r, err := w.Report("t1")
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range r.Parts {
			if part.Kind == "messages" {
				return part.Count
			}
		}
		return 0
	}
	before := messages()
	w.window = 20_000
	w.items = append(w.items, w.person("and now this"))
	if w.send("t1"); w.refused == "" || messages() != before+1 {
		t.Errorf("refused %q; %d messages are shown, %d before", w.refused, messages(), before)
	}
}

// TestReadAgainProtects: once masked files were read again soon, more of the newest results is protected.
func TestReadAgainProtects(t *testing.T) {
	least := map[bool]int{}
	for _, again := range []bool{false, true} {
		w := open(t, formats()[0], policy.ModeLean)
		w.items = []string{w.person("fix the bug")}
		n := 0
		read := func(file int) (unmasked int) {
			id := fmt.Sprint("call_", n)
			n++
			w.items = append(w.items, w.call(id, "Read", fmt.Sprintf(`{"file_path":"/w/file%d.go"}`, file)),
				w.result(id, "Read", text(n, 1500)), w.person("go on"))
			return n - len(stub.FindAllString(w.send("t1"), -1))
		}
		for n < 100 && read(n) == n { // until it is masked
		}
		for i := range 8 {
			if file := i; again {
				read(file)
			} else {
				read(1000 + i)
			}
		}
		least[again] = n
		for i := range 60 {
			least[again] = min(least[again], read(2000+i))
		}
		if r, err := w.Report("t1"); err != nil || (r.Rereads > 3) != again {
			t.Errorf("again %v: %d read again (%v)", again, r.Rereads, err)
		}
	}
	if least[true] <= least[false] {
		t.Errorf("at least %d results are kept whole, %d without reading again", least[true], least[false])
	}
}

// TestWhatIsReadAgain: only what is read again soon after it was masked, or retrieved, counts.
func TestWhatIsReadAgain(t *testing.T) {
	for _, tc := range []struct {
		what  string
		after int // requests
		tool  string
		input string
		want  int
	}{
		{"at once", 1, "Read", `{"file_path":"/w/file0.go"}`, 1},
		{"late", 20, "Read", `{"file_path":"/w/file0.go"}`, 0},
		{"another part", 1, "Read", `{"file_path":"/w/file0.go","offset":10}`, 0},
		{"another file", 1, "Read", `{"file_path":"/w/other.go"}`, 0},
		{"retrieved", 1, "Bash", `{"command":"orchestrator retrieve max:01234567"}`, 1},
	} {
		w := open(t, formats()[0], policy.ModeLean)
		w.items = []string{w.person("fix the bug")}
		n := 0
		read := func(tool, input string, tokens int) string {
			id := fmt.Sprint("call_", n)
			n++
			w.items = append(w.items, w.call(id, tool, input), w.result(id, tool, text(n, tokens)))
			return w.send("t1")
		}
		for n < 100 && len(stubs(read("Read", fmt.Sprintf(`{"file_path":"/w/file%d.go"}`, n), 1500))) == 0 {
		}
		for range tc.after - 1 {
			read("Bash", `{"command":"true"}`, 1)
		}
		read(tc.tool, tc.input, 1500)
		if r, err := w.Report("t1"); err != nil || r.Rereads != tc.want {
			t.Errorf("%s: %d read again, want %d (%v)", tc.what, r.Rereads, tc.want, err)
		}
	}
}

// TestLostCacheCostsNothing: what is masked because the cache is lost anyway is not counted as a cost; all else is.
func TestLostCacheCostsNothing(t *testing.T) {
	for _, pause := range []time.Duration{0, 2 * time.Hour} {
		w := open(t, formats()[0], policy.ModeLean)
		w.window = 200_000
		w.items = []string{w.person("fix the bug")}
		masked := func() bool {
			w.step(len(w.items)/2, 1500)
			return len(stubs(w.send("t1"))) > 0
		}
		for range 20 {
			if masked() {
				t.Fatal("masked already")
			}
		}
		w.now = w.now.Add(pause)
		for range 60 {
			if masked() {
				break
			}
		}
		if usd := w.saved[len(w.saved)-1]; usd == 0 || (usd > 0) != (pause > 0) {
			t.Errorf("masking after a pause of %v saved $%f", pause, usd)
		}
	}
}

// TestPriceOfMasking: a request that masks costs the writing of what it sends behind the first mask; the masks save the
// reading of what they leave out.
func TestPriceOfMasking(t *testing.T) {
	w := open(t, formats()[0], policy.ModeLean)
	w.items = []string{w.person("fix the bug")}
	sent := ""
	for i := 0; len(stubs(sent)) == 0; i++ {
		w.step(i, 1500)
		sent = w.send("t1")
	}
	const read, write, input = 0.1, 1.25, 3.0 / 1e6 // of the model
	left := float64(len(stubs(sent)) * (len(text(0, 1500))/4 - 50))
	want := input * (read*left - (write-read)*float64(len(sent)-strings.Index(sent, "[Masked: "))/4)
	if got := w.saved[len(w.saved)-1]; math.Abs(got-want) > math.Abs(want)/5 {
		t.Errorf("masking saved $%f, want $%f", got, want)
	}
}

// TestSavedAsBilled: what masking is said to have saved over a conversation is what can be recomputed from the requests as
// the agent sent them and as the provider got them: what one has in common with the one before is read from the cache,
// the rest is written to it.
func TestSavedAsBilled(t *testing.T) {
	for _, f := range some(t) {
		for _, rounds := range []int{28, 80} { // few, when what an event costs shows most, and many
			w := open(t, f, policy.ModeSafe)
			w.items = []string{w.person("fix the bug")}
			if last := w.grow(rounds); len(stubs(last)) < 5 {
				t.Errorf("%s %d: only %d are masked", f.path, rounds, len(stubs(last)))
			}
			table, err := models.Builtin()
			if err != nil {
				t.Fatal(err)
			}
			name := w.model
			if strings.Contains(f.path, "gemini") {
				name = "gemini-2.5-pro"
			}
			price := func(n models.Tokens) float64 { usd, _ := table.Cost(name, n); return usd / 1000 }
			read, write := price(models.Tokens{CacheRead: 1000}), price(models.Tokens{CacheWrite: 1000})
			var want, said float64
			var before [2]string
			for i, b := range w.billed {
				var cost [2]float64
				for j := range b {
					same := 0
					for same < len(b[j]) && same < len(before[j]) && b[j][same] == before[j][same] {
						same++
					}
					cost[j] = (read*float64(same) + write*float64(len(b[j])-same)) / 4
				}
				want, said, before = want+cost[0]-cost[1], said+w.saved[i], b
			}
			t.Logf("%s %d: said to save $%.4f, by the requests $%.4f", f.path, rounds, said, want)
			if math.Abs(said-want) > math.Abs(want)/5+0.012 {
				t.Errorf("%s %d: masking is said to have saved $%.4f; by the requests it is $%.4f", f.path, rounds, said, want)
			}
		}
	}
}

// TestBaseIsCachedFirst: providers cache tools and the system prompt before the items, so that masking never writes them
// again, wherever an agent has them in the body: Claude Code, Codex and OpenCode have them behind the items.
func TestBaseIsCachedFirst(t *testing.T) {
	long := strings.Repeat("You are an agent and this is what you can do. ", 1000)
	members := map[string]struct{ list, base string }{
		"/v1/messages":         {"messages", `"system":[{"type":"text","text":"` + long + `"}],"tools":[{"name":"Bash"}]`},
		"/v1/responses":        {"input", `"instructions":"` + long + `","tools":[{"type":"function","name":"shell"}]`},
		"/v1/chat/completions": {"messages", `"tools":[{"type":"function","function":{"name":"bash","description":"` + long + `"}}]`},
		"gemini": {"contents", `"systemInstruction":{"parts":[{"text":"` + long + `"}]},` +
			`"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}]`},
	}
	for _, f := range some(t) {
		m, ok := members[f.path]
		if !ok {
			m = members["gemini"]
		}
		saved := map[string][]float64{}
		for _, place := range []string{"before", "behind", "around"} {
			g := f
			g.body = func(model, items string) string {
				list := `"` + m.list + `":[` + items + `]`
				switch place {
				case "before":
					return `{"model":"` + model + `",` + m.base + `,` + list + `}`
				case "behind":
					return `{` + list + `,"model":"` + model + `",` + m.base + `}`
				default:
					system, tools, two := strings.Cut(m.base, `,"tools"`)
					if !two {
						return `{` + m.base + `,` + list + `,"model":"` + model + `"}`
					}
					return `{"model":"` + model + `","tools"` + tools + `,` + list + `,` + system + `}`
				}
			}
			w := open(t, g, policy.ModeLean)
			w.items = []string{w.person("fix the bug")}
			if last := w.grow(60); len(stubs(last)) < 10 {
				t.Errorf("%s %s: only %d are masked", f.path, place, len(stubs(last)))
			}
			saved[place] = w.saved
		}
		for _, place := range []string{"behind", "around"} {
			if len(saved[place]) != len(saved["before"]) {
				t.Fatalf("%s: %d requests and %d", f.path, len(saved[place]), len(saved["before"]))
			}
			for i, usd := range saved[place] {
				if want := saved["before"][i]; math.Abs(usd-want) > math.Abs(want)/100+1e-6 {
					t.Errorf("%s: with the base %s the items request %d saves $%f, before them $%f", f.path, place, i, usd, want)
				}
			}
		}
	}
}

// asked is when a thread's last answer came before the server started.
type asked time.Time

func (a asked) Lineage(thread.ID) (thread.ID, time.Time) { return "", time.Time(a) }

// TestCacheAcrossRestart: how long a conversation has paused is known after a restart too.
func TestCacheAcrossRestart(t *testing.T) {
	for pause, want := range map[time.Duration]bool{time.Minute: false, 2 * time.Hour: true} {
		w := open(t, formats()[0], policy.ModeLean)
		w.window = 200_000
		table, err := models.Builtin()
		if err != nil {
			t.Fatal(err)
		}
		w.Masker, err = masking.New(masking.Config{
			Masks: w.store, Counts: &counts{known: map[[32]byte]int64{}}, Calibration: exact{}, Models: table,
			Threads:  asked(w.now.Add(-pause)),
			Settings: func(thread.ID, bool) policy.Settings { return policy.Defaults(policy.ModeLean) },
			Now:      func() time.Time { return w.now },
		})
		if err != nil {
			t.Fatal(err)
		}
		w.items = []string{w.person("fix the bug")}
		for i := range 20 {
			w.step(i, 1000)
		}
		w.items = append(w.items, w.person("and now this"))
		if got := len(stubs(w.send("t1"))) > 0; got != want {
			t.Errorf("%v after the last answer: masked %v", pause, got)
		}
	}
}

// TestNobodyAsked: a result that no call asked for is not masked.
func TestNobodyAsked(t *testing.T) {
	for _, f := range some(t) {
		w := open(t, f, policy.ModeLean)
		w.keep = "no tool" // the empty name is one otherwise
		orphan := f.result("nobody", "", text(777, 2000))
		w.items = []string{w.person("fix the bug"), orphan}
		if last := w.grow(60); !strings.Contains(last, orphan) || len(stubs(last)) < 10 {
			t.Errorf("%s: what nobody asked for is masked, or nothing is", f.codec.Wire())
		}
	}
}

// TestPictures: a result with a picture is not masked.
func TestPictures(t *testing.T) {
	w := open(t, formats()[0], policy.ModeLean)
	picture := strings.Replace(w.result("seen", w.tool, text(777, 2000)), `"content":"`, `"content":[{"type":"text","text":"`, 1)
	picture = strings.TrimSuffix(picture, `}]}`) + `},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}`
	w.items = []string{w.person("fix the bug"), w.call("seen", w.tool, `{"command":"draw"}`), picture}
	last := w.grow(60)
	if !strings.Contains(last, picture) || len(stubs(last)) < 10 {
		t.Error("a result with a picture is masked, or nothing is")
	}
	w.checkPairs(last)
}

// TestForkReadsAgain: what a fork reads again of its parent's masked contents stays, as in the parent.
func TestForkReadsAgain(t *testing.T) {
	w := open(t, formats()[0], policy.ModeLean)
	file := stub.FindStringSubmatch(w.grow(60))[4]
	w.parents["fork"] = "t1"
	again := w.result("again", w.tool, text(888, 3000))
	w.items = append(w.items, w.call("again", w.tool, `{"command":"cat `+file+`"}`), again)
	sent := ""
	for i := range 60 {
		w.step(1000+i, 1500)
		sent = w.send("fork")
	}
	if !strings.Contains(sent, again) || strings.Contains(sent, `"`+text(1040, 1500)) {
		t.Error("what was read again is masked again, or nothing is")
	}
}

// TestSideRequestsCountNothing: what the provider counts for a side request says nothing about the conversation.
func TestSideRequestsCountNothing(t *testing.T) {
	w := open(t, formats()[0], policy.ModeSafe)
	w.items = []string{w.person("fix the bug")}
	w.step(0, 1000)
	w.usage = 50_000
	w.send("t1")
	w.path, w.usage = "/v1/messages/count_tokens", 7
	w.send("t1")
	if r, err := w.Report("t1"); err != nil || r.Tokens != 50_000 || w.saved[len(w.saved)-1] != 0 {
		t.Errorf("%d tokens, saved %v (%v)", r.Tokens, w.saved, err)
	}
}

// TestFailedRequestsOwe: what masking costs is counted once, with the first request that succeeds.
func TestFailedRequestsOwe(t *testing.T) {
	when, cost := 0, 0.0 // of the first masks, if nothing fails
	for _, failed := range []int{0, 2} {
		w := open(t, formats()[0], policy.ModeLean)
		w.items = []string{w.person("fix the bug")}
		sent := ""
		for i := 0; len(stubs(sent)) == 0; i++ {
			w.step(i, 1500)
			for range failed {
				if i == when {
					w.status = http.StatusServiceUnavailable
					w.send("t1")
				}
			}
			w.status = http.StatusOK
			sent = w.send("t1")
		}
		w.send("t1")
		first := len(w.saved) - 2
		if failed == 0 {
			when, cost = first, w.saved[first]
		}
		if first != when+failed || w.saved[first] != cost || cost >= 0 || w.saved[first+1] <= 0 || w.saved[when+failed-1] != 0 {
			t.Errorf("after %d that failed: request %d cost $%f, want %d and $%f; then $%f", failed, first, w.saved[first],
				when+failed, cost, w.saved[first+1])
		}
	}
}

// TestCountsAreASessions: what the provider counted for one session is not believed of another.
func TestCountsAreASessions(t *testing.T) {
	w := open(t, formats()[0], policy.ModeSafe)
	w.items, w.session, w.usage = []string{w.person("fix the bug")}, "one", 50_000
	w.send("t1")
	w.session, w.status = "two", http.StatusServiceUnavailable // it is not counted
	w.send("t1")
	if r, err := w.Report("t1"); err != nil || r.Tokens > 1000 {
		t.Errorf("%d tokens of a short conversation (%v)", r.Tokens, err)
	}
}

// TestToolsChange: with other tools the cache is lost.
func TestToolsChange(t *testing.T) {
	w := open(t, formats()[0], policy.ModeLean)
	w.window = 200_000
	w.items = []string{w.person("fix the bug")}
	for i := range 20 {
		w.step(i, 1000)
		w.send("t1")
	}
	if sent := w.send("t1"); len(stubs(sent)) > 0 {
		t.Error("masked with the same tools")
	}
	if sent := w.sendBody("t1", strings.Replace(w.body(w.model, strings.Join(w.items, ",")), `{"name":"Read"},`, "", 1)); len(stubs(sent)) == 0 {
		t.Error("not masked with other tools")
	}
}

// TestMaskedTeachesNothing: a request in which something new is masked at once teaches nothing about counts.
func TestMaskedTeachesNothing(t *testing.T) {
	for _, window := range []int64{1_000_000, 20_000} { // the latter is almost full
		w := open(t, formats()[0], policy.ModeLean)
		l := &learner{}
		w.calibration, w.window = l, window
		w.restart()
		w.items = []string{w.person("fix the bug")}
		for i := range 3 {
			w.step(i, 100)
			w.send("t1")
		}
		l.growth = 0
		w.items = append(w.items, strings.TrimSuffix(w.call("a", w.tool, "{}"), "]}")+
			`,{"type":"tool_use","id":"b","name":"Bash","input":{}}]}`)
		w.items = append(w.items, w.result("a", w.tool, text(1, 15_000)), w.result("b", w.tool, text(2, 3000)))
		w.growth = 18_000
		sent := w.send("t1")
		if masked := len(stubs(sent)) > 0; masked != (window == 20_000) || (l.growth == 0) != masked {
			t.Errorf("window %d: masked %v, learned from %d", window, masked, l.growth)
		}
	}
}
