package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"sync"
	"syscall"
)

// reporter writes reports.
type reporter struct {
	mu   sync.Mutex // guards out
	out  *json.Encoder
	desk *desk
}

func newReporter(stdout io.Writer) *reporter {
	out := json.NewEncoder(stdout)
	out.SetEscapeHTML(false)
	r := &reporter{out: out}
	r.desk = newDesk(r.say)
	return r
}

func (r *reporter) say(what Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.out.Encode(what) // if nobody listens, the program ends with its output
}

// tell reports an event of a turn.
func (r *reporter) tell(e any) {
	switch e := e.(type) {
	case asked:
		r.desk.ask(e)
	case withdrawn:
		r.desk.withdraw(e)
	case steered:
		r.say(Report{Type: ReportSteered, Text: e.text})
	case said:
		r.say(Report{Type: ReportText, Text: e.text})
	case calling:
		r.say(Report{Type: ReportTool, Call: e.call, Tool: e.name, Text: e.summary, Reads: e.reads})
	case returned:
		r.say(Report{Type: ReportResult, Call: e.call, Text: e.text, Failed: e.failed})
	case refused:
		r.say(Report{Type: ReportRefused, Call: e.call, Text: e.text})
	case counted:
		r.say(Report{Type: ReportUsage, Usage: &e.usage})
	case noted:
		r.say(Report{Type: ReportNotice, Text: e.text})
	}
}

// end reports how the program ends, and returns its exit code.
func (r *reporter) end(err error) int {
	end, code := Report{Type: ReportEnd, Outcome: OutcomeCompleted}, 0
	var status *statusError
	switch {
	case errors.Is(err, errInterrupted):
		end.Outcome, end.Text, code = OutcomeInterrupted, "interrupted", 1
	case err != nil:
		end.Outcome, end.Text, code = OutcomeFailed, plain(err.Error()), 1
	}
	if errors.As(err, &status) {
		end.Status = status.status
	}
	r.say(end)
	return code
}

// headless takes a prompt and answers it. What the person would be asked is refused, unless somebody answers. A signal
// ends the turn as an order does.
func headless(t *talk, asks bool, stdin io.Reader, stdout io.Writer) error {
	r := newReporter(stdout)
	t.alone, t.together, t.tell = !asks, true, r.tell
	t.client.wait = func(why string) { r.tell(noted{why}) }
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	r.say(Report{Type: ReportSession, Session: t.client.session, Model: t.client.model})
	orders := orders(json.NewDecoder(stdin))
	prompt, err := awaitPrompt(ctx, orders)
	if err != nil {
		return err
	}
	go func() {
		for o := range orders { // the end of the input ends nothing
			switch o.Type {
			case OrderInterrupt:
				cancel()
			case OrderAnswer:
				r.desk.answer(o)
			case OrderSteer:
				t.further.add(o.Text)
			}
		}
	}()
	return t.turn(ctx, prompt)
}

// awaitPrompt returns the prompt, the first order.
func awaitPrompt(ctx context.Context, orders <-chan Order) (string, error) {
	select {
	case o, ok := <-orders:
		switch {
		case !ok:
			return "", errors.New("no prompt was given")
		case o.Type == OrderInterrupt:
			return "", errInterrupted
		case o.Type != OrderPrompt:
			return "", fmt.Errorf("the order %q is unknown", plain(o.Type))
		}
		return o.Text, nil
	case <-ctx.Done():
		return "", errInterrupted
	}
}

// orders reads the input until it ends.
func orders(in *json.Decoder) <-chan Order {
	all := make(chan Order)
	go func() {
		defer close(all)
		for {
			var o Order
			if in.Decode(&o) != nil {
				return
			}
			all <- o
		}
	}()
	return all
}
