package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/grant"
	"orchestrator/thread/manager"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// serve has a server answer on a socket until the test's end, and returns a client of it and what ends it before.
func serve(t *testing.T, s *Server) (cl *client.Client, end func()) {
	t.Helper()
	cl, _, end = serveOn(t, s)
	return cl, end
}

// serveAt is serve for a test that needs the socket.
func serveAt(t *testing.T, s *Server) (cl *client.Client, socket string) {
	t.Helper()
	cl, socket, _ = serveOn(t, s)
	return cl, socket
}

func serveOn(t *testing.T, s *Server) (cl *client.Client, socket string, end func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "daemon") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	over := false
	end = func() {
		if over {
			return
		}
		over = true
		now, cancel := context.WithCancel(context.Background())
		cancel()
		s.Close(now)
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(end)
	cl = client.New(path)
	t.Cleanup(cl.Close)
	return cl, path, end
}

// person is a gate that takes everybody for the person.
type person struct{}

func (person) identify(*http.Request) (grant.Caller, error) { return grant.Caller{}, nil }
func (person) refused(string, grant.Caller)                 {}
func (person) threadNamed(context.Context, string) (thread.ID, error) {
	return "", thread.ErrNotFound
}
func (person) staged(context.Context, grant.Caller, string) (thread.Staged, error) {
	return thread.Staged{}, thread.ErrNotFound
}
func (person) execution(context.Context, string) (work.Execution, error) {
	return work.Execution{}, thread.ErrNotFound
}

// bare is a server that answers what is registered, to everybody.
func bare(register func(*routes)) *Server {
	s := &Server{Config: Config{Log: slog.New(slog.DiscardHandler)}}
	r := newRoutes(person{})
	register(r)
	s.http = &http.Server{Handler: s.recovered(r.mux), ReadHeaderTimeout: time.Second}
	return s
}

// trip is an operation with what takes it to a server and back.
type trip struct {
	op  string
	run func(t *testing.T)
}

// there sends a call with every field of its request set, and has every field of its answer set.
func there[Req, Resp any](c api.Call[Req, Resp]) trip {
	return trip{c.Name(), func(t *testing.T) {
		var req, got Req
		var resp Resp
		fill(reflect.ValueOf(&req).Elem(), 0)
		fill(reflect.ValueOf(&resp).Elem(), 0)
		cl, _ := serve(t, bare(func(r *routes) {
			answer(r, c, nil, func(_ context.Context, q Req) (Resp, error) { got = q; return resp, nil })
		}))
		back, err := c.Do(t.Context(), cl, req)
		same(t, err, got, req, back, resp)
	}}
}

// told does so with a command.
func told[Req any](c api.Command[Req]) trip {
	return trip{c.Name(), func(t *testing.T) {
		var req, got Req
		fill(reflect.ValueOf(&req).Elem(), 0)
		cl, _ := serve(t, bare(func(r *routes) {
			obey(r, c, nil, func(_ context.Context, q Req) error { got = q; return nil })
		}))
		err := c.Do(t.Context(), cl, req)
		same(t, err, got, req, nil, nil)
	}}
}

// heard does so with a stream: all events come, then its end.
func heard[Req any](s api.Stream[Req]) trip {
	return trip{s.Name(), func(t *testing.T) {
		var req, got Req
		var event thread.Event
		fill(reflect.ValueOf(&req).Elem(), 0)
		fill(reflect.ValueOf(&event).Elem(), 0)
		cl, _ := serve(t, bare(func(r *routes) {
			stream(r, s, nil, func(_ context.Context, q Req) (<-chan thread.Event, error) {
				got = q
				events := make(chan thread.Event, 3)
				events <- event
				events <- event
				close(events)
				return events, nil
			})
		}))
		events, err := s.Open(t.Context(), cl, req)
		if err != nil {
			t.Fatal(err)
		}
		var back []thread.Event
		for e := range events {
			back = append(back, e)
		}
		same(t, nil, got, req, back, []thread.Event{event, event})
	}}
}

// taken does so with an upload: the data comes too.
func taken[Req, Resp any](u api.Upload[Req, Resp]) trip {
	return trip{u.Name(), func(t *testing.T) {
		var req, got Req
		var resp Resp
		fill(reflect.ValueOf(&req).Elem(), 0)
		fill(reflect.ValueOf(&resp).Elem(), 0)
		const data = "data\x00\n"
		cl, _ := serve(t, bare(func(r *routes) {
			upload(r, u, nil, func(_ context.Context, q Req, in io.Reader) (Resp, error) {
				got = q
				b, err := io.ReadAll(in)
				if string(b) != data {
					t.Errorf("%q came with it", b)
				}
				return resp, err
			})
		}))
		back, err := u.Do(t.Context(), cl, req, strings.NewReader(data))
		same(t, err, got, req, back, resp)
	}}
}

// parcel is data that is given out, and how that ends.
type parcel struct {
	text string
	err  error
}

func (p parcel) Close() error { return nil }

func (p parcel) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, p.text)
	if err == nil {
		err = p.err
	}
	return int64(n), err
}

// given does so with a download.
func given[Req any](d api.Download[Req]) trip {
	return trip{d.Name(), func(t *testing.T) {
		var req, got Req
		fill(reflect.ValueOf(&req).Elem(), 0)
		text := strings.Repeat("data\x00\n", 100_000)
		cl, _ := serve(t, bare(func(r *routes) {
			download(r, d, nil, func(_ context.Context, q Req) (thread.StagedData, error) {
				got = q
				return parcel{text: text}, nil
			})
		}))
		in, err := d.Open(t.Context(), cl, req)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		back, err := io.ReadAll(in)
		same(t, err, got, req, string(back), text)
	}}
}

func same(t *testing.T, err error, got, req, back, resp any) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, req) {
		t.Errorf("asked   %+v\nreceived %+v", req, got)
	}
	if !reflect.DeepEqual(back, resp) {
		t.Errorf("answered %+v\nreceived %+v", resp, back)
	}
}

// fill sets every exported field that is sent.
func fill(v reflect.Value, depth int) {
	if raw, ok := v.Addr().Interface().(*json.RawMessage); ok {
		*raw = json.RawMessage(`{"a":1}`)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("a \"word\"\n\x1b")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(.5)
	case reflect.Pointer:
		if depth < 8 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if depth < 8 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			fill(v.Index(0), depth+1)
			fill(v.Index(1), depth+1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if at, ok := v.Addr().Interface().(*time.Time); ok {
			*at = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !strings.HasPrefix(f.Tag.Get("json"), "-") {
				fill(v.Field(i), depth+1)
			}
		}
	default:
	}
}

// trips lists every operation but the terminal.
func trips() []trip {
	return []trip{
		there(api.WorkGlance), there(api.WorkPage), there(api.WaveGlance),
		there(api.Info), there(api.Stop), there(api.Agents), there(api.Cost), there(api.MCP), there(api.MCPDetail), there(api.MCPWhy), there(api.SwitchMCP), there(api.ActMCP), there(api.CallMCP), told(api.May), there(api.Grants),
		there(api.SetGrants), there(api.List), there(api.Archived), there(api.Status), there(api.New), there(api.Fork), there(api.Resume),
		there(api.ResumeAll), there(api.SetUp), told(api.StopAgent), there(api.Why), there(api.Ask), there(api.Answer), there(api.Prompts),
		there(api.Prompt), there(api.EditPrompt), there(api.CancelPrompt), there(api.AskAgain), there(api.Switch),
		told(api.Seen), there(api.Rename), told(api.Pin), told(api.Archive), told(api.Unarchive), told(api.Delete),
		told(api.Undelete), told(api.Abandon), there(api.Timeline), there(api.Turn), there(api.Diff), there(api.Rewind),
		there(api.Find), there(api.EventLog), there(api.Merge), there(api.MergeContinue), told(api.MergeAbort), there(api.Finish),
		there(api.Push), there(api.AnswerOffer), told(api.SetOffers), there(api.Export), there(api.Import),
		there(api.Backup), there(api.RestoreBackup), there(api.Collect), heard(api.Events), heard(api.Speech),
		taken(api.Stage), given(api.Retrieve), there(api.StageList), there(api.StageInfo), there(api.StageTouch),
		there(api.Unstage), there(api.StartRun), there(api.ForkRun), there(api.Executions), there(api.Execution), there(api.ExecutionEvents),
		heard(api.FollowExecution), there(api.CancelExecution), there(api.SendExecution), there(api.ResumeExecution), there(api.RetryExecution), there(api.FallBackExecution), there(api.Budgets), there(api.SetBudget), there(api.Queue), there(api.SetQueue), there(api.InitSession), there(api.PhaseSession), there(api.CompleteSession), there(api.Sessions),
		there(api.Session), there(api.PutTask), there(api.InitExecution), there(api.CompleteExecution), there(api.QueryExecutions), there(api.Context), there(api.ChangeContext), there(api.SetBase), there(api.Base),
		there(api.RunWave), there(api.WaveStatus), there(api.Waves), there(api.CancelWave), there(api.RetryWave), there(api.AnswerWave),
		there(api.GetDeliverable), there(api.Deliverables), there(api.PutDeliverable), there(api.CompareWave),
		there(api.AddTask), there(api.Tasks), there(api.EditTask), there(api.StartTask), there(api.SplitTask), there(api.ArmPlan), there(api.ArmedPlans),
		there(api.PrepareBundle), there(api.ShowBundle), there(api.Bundles), there(api.DedupBundles), there(api.BundleBudget), there(api.AllocateBundle),
		there(api.CollectOutputs), there(api.QueryOutputs), there(api.CheckOutputs), there(api.SessionReport),
		there(api.History), there(api.HistoryContext), there(api.HistoryWho), there(api.HistoryBundles), there(api.HistoryTrace), there(api.Stats),
	}
}

// TestRoundTrip takes every operation through a socket: what one side says is what the other hears.
func TestRoundTrip(t *testing.T) {
	travelled := []string{api.Terminal, api.ServeMCP}
	for _, one := range trips() {
		travelled = append(travelled, one.op)
		t.Run(one.op, one.run)
	}
	for _, row := range grant.Table() {
		if !row.Local && !slices.Contains(travelled, row.Op) {
			t.Errorf("%s has not travelled", row.Op)
		}
	}
}

// TestRefusalTravels: an error of a handler is the client's error, and secrets in its message are not.
func TestRefusalTravels(t *testing.T) {
	cl, _ := serve(t, bare(func(r *routes) {
		answer(r, api.Fork, nil, func(context.Context, thread.ForkRequest) (thread.Status, error) {
			return thread.Status{}, fmt.Errorf("fork with sk-ant-api03-%s: %w", strings.Repeat("x1", 40), thread.ErrBusy)
		})
		obey(r, api.Archive, nil, func(context.Context, api.Ref) error {
			return &thread.UnknownThreadError{Name: "x", Nearest: []string{"xy"}}
		})
		stream(r, api.Speech, nil, func(context.Context, api.Ref) (<-chan thread.Event, error) { return nil, thread.ErrNotFound })
		obey(r, api.Seen, nil, func(context.Context, api.Ref) error { panic("a bug") })
	}))
	_, err := api.Fork.Do(t.Context(), cl, thread.ForkRequest{})
	if !errors.Is(err, thread.ErrBusy) || strings.Contains(err.Error(), "x1x1") {
		t.Errorf("fork: %v", err)
	}
	var unknown *thread.UnknownThreadError
	if err := api.Archive.Do(t.Context(), cl, api.Ref{}); !errors.As(err, &unknown) || unknown.Nearest[0] != "xy" {
		t.Errorf("archive: %v", err)
	}
	if _, err := api.Speech.Open(t.Context(), cl, api.Ref{}); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("speech: %v", err)
	}
	if err := api.Seen.Do(t.Context(), cl, api.Ref{}); err == nil || !strings.Contains(err.Error(), "hit a bug") {
		t.Errorf("a panic: %v", err)
	}
	if err := api.Delete.Do(t.Context(), cl, api.Ref{}); err == nil {
		t.Error("an operation that is not there was answered")
	}
	if err := cl.Do(t.Context(), api.Fork.Name(), "no object", nil); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("a request that is no object: %v", err)
	}
}

// TestBrokenData: data that could not be sent whole ends with the reason, and data that is refused is not waited for.
func TestBrokenData(t *testing.T) {
	cl, end := serve(t, bare(func(r *routes) {
		download(r, api.Retrieve, nil, func(_ context.Context, q api.RetrieveRequest) (thread.StagedData, error) {
			if q.Token == "none" {
				return nil, thread.ErrNotFound
			}
			err := fmt.Errorf("a line\nof sk-ant-api03-%s: %w", strings.Repeat("x1", 40), thread.ErrDamaged)
			return parcel{"begin", err}, nil
		})
		upload(r, api.Stage, nil, func(_ context.Context, _ thread.StageRequest, in io.Reader) (thread.Staged, error) {
			_, err := io.CopyN(io.Discard, in, 1<<20)
			return thread.Staged{}, errors.Join(err, thread.ErrDiskFull)
		})
	}))
	defer end()
	none := api.RetrieveRequest{Token: "none"}
	if _, err := api.Retrieve.Open(t.Context(), cl, none); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("refused: %v", err)
	}
	in, err := api.Retrieve.Open(t.Context(), cl, api.RetrieveRequest{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if b, err := io.ReadAll(in); string(b) != "begin" || !errors.Is(err, thread.ErrDamaged) ||
		strings.Contains(err.Error(), "x1x1") {
		t.Errorf("%q, %v", b, err)
	}
	slow, producer := io.Pipe() // which brings more, and then nothing, and does not end
	go func() { _, _ = producer.Write(make([]byte, 2<<20)) }()
	defer func() { _ = slow.Close() }()
	if _, err := api.Stage.Do(t.Context(), cl, thread.StageRequest{}, slow); !errors.Is(err, thread.ErrDiskFull) {
		t.Errorf("the disk is full: %v", err)
	}
}

// below is a caller that some agent started.
type below struct{}

func (below) Caller(int, string) (thread.ID, bool, error) { return "", true, nil }

// TestAgentIsGuarded: a server lets an agent do what the table of grants says, and nothing else.
func TestAgentIsGuarded(t *testing.T) {
	info := func(context.Context, api.InfoRequest) (api.ServerInfo, error) {
		return api.ServerInfo{Protocol: api.Version}, nil
	}
	cl, _ := serve(t, New(Config{
		Manager: new(manager.Manager), Callers: below{}, Transfer: struct{ Transfer }{}, Info: info, Record: record.New(record.Config{}),
		Log: slog.New(slog.DiscardHandler),
	}))
	if i, err := api.Info.Do(t.Context(), cl, api.InfoRequest{}); err != nil || i.Protocol != api.Version {
		t.Errorf("info: %+v, %v", i, err)
	}
	if _, err := api.Fork.Do(t.Context(), cl, thread.ForkRequest{}); !errors.Is(err, thread.ErrNotGranted) {
		t.Errorf("fork: %v", err)
	}
	if _, err := api.Events.Open(t.Context(), cl, api.None{}); !errors.Is(err, thread.ErrNotGranted) {
		t.Errorf("events: %v", err)
	}
	if _, err := cl.Attach(t.Context(), "one", 80, 24); !errors.Is(err, thread.ErrNotGranted) {
		t.Errorf("terminal: %v", err)
	}
	if err := api.May.Do(t.Context(), cl, api.MayRequest{Op: api.New.Name()}); !errors.Is(err, thread.ErrNotGranted) {
		t.Errorf("may new: %v", err)
	}
}

// unknown is a caller of whom the system tells nothing.
type unknown struct{}

func (unknown) Caller(int, string) (thread.ID, bool, error) { return "", false, errors.New("no /proc") }

// TestAnUnknownCallerIsRefused: who cannot be told from an agent may do nothing, not even what an agent may.
func TestAnUnknownCallerIsRefused(t *testing.T) {
	info := func(context.Context, api.InfoRequest) (api.ServerInfo, error) { return api.ServerInfo{}, nil }
	cl, _ := serve(t, New(Config{
		Manager: new(manager.Manager), Callers: unknown{}, Transfer: struct{ Transfer }{}, Info: info, Record: record.New(record.Config{}),
		Log: slog.New(slog.DiscardHandler),
	}))
	if _, err := api.Info.Do(t.Context(), cl, api.InfoRequest{}); !errors.Is(err, thread.ErrNotGranted) {
		t.Errorf("info: %v", err)
	}
}

// still is a terminal that shows nothing until its viewer is gone.
type still struct{ closed chan struct{} }

func (v still) Attach(thread.ID, int, int, bool) (Viewer, error) { return v, nil }

func (v still) Next(ctx context.Context) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (still) Input([]byte) error          { return nil }
func (still) Resize(int, int, bool) error { return nil }
func (v still) Close()                    { close(v.closed) }

// TestALeftTerminalIsClosed: a terminal whose client has gone has no viewer any more, and no longer takes its size.
func TestALeftTerminalIsClosed(t *testing.T) {
	v := still{make(chan struct{})}
	var s *Server
	s = bare(func(r *routes) {
		r.handle(http.MethodGet, api.Terminal, func(w http.ResponseWriter, q *http.Request) { s.terminal(w, q) })
	})
	s.Terminals = v
	cl, _ := serve(t, s)
	term, err := cl.Attach(t.Context(), "t1", 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	if err := term.Close(); err != nil {
		t.Error(err)
	}
	select {
	case <-v.closed:
	case <-time.After(time.Minute):
		t.Error("the viewer is there still")
	}
}

// TestServerGone: streams end and calls say so when the server has gone.
func TestServerGone(t *testing.T) {
	open := make(chan thread.Event)
	cl, end := serve(t, bare(func(r *routes) {
		stream(r, api.Events, nil, func(context.Context, api.None) (<-chan thread.Event, error) { return open, nil })
	}))
	leaving, leave := context.WithCancel(t.Context())
	left, err := api.Events.Open(leaving, cl, api.None{})
	if err != nil {
		t.Fatal(err)
	}
	leave()
	ended(t, left)
	events, err := api.Events.Open(t.Context(), cl, api.None{})
	if err != nil {
		t.Fatal(err)
	}
	end()
	ended(t, events)
	if _, err := api.List.Do(t.Context(), cl, api.None{}); !client.Gone(err) {
		t.Errorf("a call after the server's end: %v", err)
	}
	if _, err := api.Events.Open(t.Context(), cl, api.None{}); !client.Gone(err) {
		t.Errorf("a stream after the server's end: %v", err)
	}
}

// ended waits for a stream's end.
func ended(t *testing.T, events <-chan thread.Event) {
	t.Helper()
	select {
	case e, ok := <-events:
		if ok {
			t.Errorf("an event came: %+v", e)
		}
	case <-time.After(time.Minute):
		t.Fatal("the stream has not ended")
	}
}

// TestWaitingServer: it says who it is and the last list; everything else is refused.
func TestWaitingServer(t *testing.T) {
	s := NewWaiting(Waiting{
		Callers: persons{},
		Info:    func(context.Context, api.InfoRequest) (api.ServerInfo, error) { return api.ServerInfo{PID: 7}, nil },
		List:    func() []thread.Status { return []thread.Status{{Thread: thread.Thread{Name: "one"}}} },
		Stop:    func(context.Context, api.StopRequest) (api.StopReport, error) { return api.StopReport{}, nil },
		Refusal: func() error { return fmt.Errorf("not now: %w", thread.ErrUnreachable) },
		Log:     slog.New(slog.DiscardHandler),
	})
	cl, _ := serve(t, s)
	if i, err := api.Info.Do(t.Context(), cl, api.InfoRequest{}); err != nil || i.PID != 7 {
		t.Errorf("info: %+v, %v", i, err)
	}
	if list, err := api.List.Do(t.Context(), cl, api.None{}); err != nil || len(list) != 1 || list[0].Name != "one" {
		t.Errorf("list: %+v, %v", list, err)
	}
	if _, err := api.New.Do(t.Context(), cl, thread.NewRequest{}); !errors.Is(err, thread.ErrUnreachable) {
		t.Errorf("new: %v", err)
	}
	if _, err := api.Events.Open(t.Context(), cl, api.None{}); err != nil {
		t.Errorf("events: %v", err)
	}
}

// persons takes every process for the person's.
type persons struct{}

func (persons) Caller(int, string) (thread.ID, bool, error) { return "", false, nil }

// of takes every process for an agent's of a thread.
type of thread.ID

func (id of) Caller(int, string) (thread.ID, bool, error) { return thread.ID(id), true, nil }

// TestWaitingServerGuards: a server without its store decides who calls as one that has it. Agents of the last server
// may still run: they see their own thread, stop nothing, and somebody of whom nothing is known may do nothing.
func TestWaitingServerGuards(t *testing.T) {
	one := func(id thread.ID, grants ...thread.Grant) thread.Status {
		return thread.Status{Thread: thread.Thread{ID: id, Name: "n-" + string(id), Grants: grants}}
	}
	list := []thread.Status{one("a"), one("b", grant.Read), one("c")}
	for name, c := range map[string]struct {
		callers Callers
		sees    int
		refused bool // all of it
	}{
		"the person": {callers: persons{}, sees: 3}, "an agent": {callers: of("a"), sees: 1},
		"an agent that may read": {callers: of("b"), sees: 3}, "an agent of no thread": {callers: of(""), sees: 0},
		"an agent of a thread that is not listed": {callers: of("z"), sees: 0}, "an unknown": {callers: unknown{}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			stopped := false
			cl, _ := serve(t, NewWaiting(Waiting{
				Callers: c.callers, List: func() []thread.Status { return list }, Log: slog.New(slog.DiscardHandler),
				Info: func(context.Context, api.InfoRequest) (api.ServerInfo, error) { return api.ServerInfo{}, nil },
				Stop: func(context.Context, api.StopRequest) (api.StopReport, error) {
					stopped = true
					return api.StopReport{}, nil
				},
				Refusal: func() error { return thread.ErrUnreachable },
			}))
			got, err := api.List.Do(t.Context(), cl, api.None{})
			if len(got) != c.sees || c.refused != errors.Is(err, thread.ErrNotGranted) {
				t.Errorf("sees %d threads, %v", len(got), err)
			}
			mayStop := c.callers == Callers(persons{})
			if _, err := api.Stop.Do(t.Context(), cl, api.StopRequest{}); stopped != mayStop || mayStop != (err == nil) {
				t.Errorf("stopped: %v, %v", stopped, err)
			}
			mayRead := mayStop || c.sees == 3
			if _, err := api.Events.Open(t.Context(), cl, api.None{}); mayRead != (err == nil) {
				t.Errorf("events: %v", err)
			}
			if len(list) != 3 || list[0].ID != "a" {
				t.Errorf("the list is now %v", list)
			}
		})
	}
}
