package program

import "sync"

// desk keeps the questions that wait for an order. Each is answered or withdrawn once.
type desk struct {
	say  func(Report)
	mu   sync.Mutex // guards open, and is held while a question is reported
	open map[string]asked
}

func newDesk(say func(Report)) *desk { return &desk{say: say, open: make(map[string]asked)} }

// ask reports a question.
func (d *desk) ask(q asked) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[q.id] = q
	r := Report{Type: ReportAsks, Call: q.call, Question: &Question{ID: q.id, Kind: q.kind, Text: q.question, About: q.detail}}
	for i, o := range q.options {
		c := Choice{Text: flat(o)}
		if i < len(q.means) {
			c.Means = q.means[i]
		}
		r.Question.Choices = append(r.Question.Choices, c)
	}
	d.say(r)
}

// answer passes an answer on, if its question is open.
func (d *desk) answer(o Order) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if q, ok := d.open[o.Question]; ok {
		delete(d.open, o.Question)
		q.answer <- decision{o.Choice, o.Text}
	}
}

// withdraw reports that a question is not open any more, if it is.
func (d *desk) withdraw(w withdrawn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.open[w.id]; ok {
		delete(d.open, w.id)
		d.say(Report{Type: ReportWithdrawn, Question: &Question{ID: w.id}, Text: w.why})
	}
}
