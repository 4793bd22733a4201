package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// CollectOutputs writes down what came of an execution. What git can tell of files is seen; all else is a claim.
type CollectOutputs struct {
	Execution string `json:"execution_id"`
	// Deliverables are files, relative to the execution's folder or absolute. All stands for all that have changed since it
	// began.
	Deliverables []string `json:"deliverables,omitempty"`
	All          bool     `json:"all,omitempty"`
	// Validation is what is said of checks: "format:pass,lint:pass".
	Validation string   `json:"validation_results,omitempty"`
	Insights   []string `json:"insights,omitempty"`
	Errors     []string `json:"errors,omitempty"`
}

const (
	// mostNotes is how many insights, or errors, are written down at once.
	mostNotes = 100
	// filesLimit is how long git may take to tell what has become of files.
	filesLimit = 2 * time.Minute
)

// Collect writes down what came of an execution, and returns it as it is stored: what is there already is not stored again.
func (o *Outputs) Collect(ctx context.Context, a Author, q CollectOutputs) ([]work.Output, error) {
	if err := o.c.mayRecord(ctx, a, len(q.Validation)+textSize(q.Deliverables, q.Insights, q.Errors)); err != nil {
		return nil, err
	}
	x, err := o.own(ctx, a, q.Execution)
	if err != nil {
		return nil, err
	}
	all, err := o.collected(ctx, a, x, q)
	if err != nil {
		return nil, err
	}
	return o.c.Store.AddOutputs(ctx, x.ID, all)
}

// textSize is how long texts are.
func textSize(of ...[]string) (n int) {
	for _, texts := range of {
		for _, s := range texts {
			n += len(s)
		}
	}
	return n
}

// collected returns what came of an execution, as it is to be stored.
func (o *Outputs) collected(ctx context.Context, a Author, x work.Execution, q CollectOutputs) ([]work.Output, error) {
	var all []work.Output
	for _, notes := range []struct {
		of    work.OutputType
		texts []string
	}{{work.OutputInsight, q.Insights}, {work.OutputError, q.Errors}} {
		more, err := notesOf(notes.of, notes.texts)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	if strings.TrimSpace(q.Validation) != "" {
		claim, err := o.claim(ctx, x, q.Validation)
		if err != nil {
			return nil, err
		}
		all = append(all, claim)
	}
	if q.All || len(q.Deliverables) > 0 {
		files, err := o.files(ctx, x, q.Deliverables)
		if err != nil {
			return nil, err
		}
		all = append(files, all...)
	}
	if len(all) == 0 {
		return nil, thread.Hint(thread.Kindf(thread.ErrInvalid, "nothing to collect of %s", x.Name),
			"name files with --deliverables, or take --all, --validation-results, --insights or --errors")
	}
	for i := range all {
		all[i].By = a.Thread
	}
	return all, nil
}

// own finds an execution for which an author may write down what came of it.
func (o *Outputs) own(ctx context.Context, a Author, ref string) (work.Execution, error) {
	x, err := o.find(ctx, a, ref)
	if err == nil && a.Agent && (a.Thread == "" || x.By != a.Thread && x.Thread != a.Thread) {
		err = a.changes("another", "the execution "+x.Name)
	}
	return x, err
}

// find finds an execution that an author sees.
func (o *Outputs) find(ctx context.Context, a Author, ref string) (work.Execution, error) {
	x, err := o.c.Store.Execution(ctx, ref)
	switch {
	case errors.Is(err, thread.ErrNotFound):
		return x, thread.Hint(thread.Kindf(thread.ErrNotFound, "no execution named %q", thread.Excerpt(ref)), "`orchestrator exec list --all` lists them")
	case err == nil && !a.sees(x):
		return x, unseen("the execution " + x.Name)
	}
	return x, err
}

// notesOf returns texts as outputs.
func notesOf(of work.OutputType, texts []string) ([]work.Output, error) {
	if len(texts) > mostNotes {
		return nil, thread.Kindf(thread.ErrLimit, "%d texts of one type: at most %d at once", len(texts), mostNotes)
	}
	var all []work.Output
	for _, text := range texts {
		kept, _ := message("", text)
		if kept = strings.TrimSpace(kept); kept == "" {
			continue
		}
		content, err := json.Marshal(kept)
		if err != nil {
			return nil, err
		}
		all = append(all, work.Output{Type: of, Content: content, Metadata: work.OutputMetadata{Claimed: true}})
	}
	return all, nil
}

// claim returns what is said of checks, with what was said before of the others. What was said already is returned as it is.
func (o *Outputs) claim(ctx context.Context, x work.Execution, text string) (work.Output, error) {
	said, err := work.ParseValidation(text)
	if err != nil {
		return work.Output{}, err
	}
	claimed, _, err := o.validations(ctx, string(x.ID))
	if err != nil {
		return work.Output{}, err
	}
	said.At = o.c.Now().UTC().Truncate(time.Second)
	if claimed != nil {
		if said = said.Over(*claimed); claimed.At.IsZero() || same(said, *claimed) {
			said.At = claimed.At
		}
	}
	return validationOutput(said, true)
}

func same(a, b work.Validation) bool {
	for _, name := range work.CheckNames() {
		if a.Says(name) != b.Says(name) {
			return false
		}
	}
	return true
}

func validationOutput(v work.Validation, claimed bool) (work.Output, error) {
	content, err := json.Marshal(v)
	return work.Output{Type: work.OutputValidation, Content: content, Metadata: work.OutputMetadata{Claimed: claimed}}, err
}

// validations returns the newest of what was claimed of an execution's checks, and of what they said; nil for none.
func (o *Outputs) validations(ctx context.Context, ref string) (claimed, checked *work.Validation, err error) {
	list, err := o.c.Store.Outputs(ctx, work.OutputQuery{Execution: ref, Types: []work.OutputType{work.OutputValidation}, Limit: 1000})
	if err != nil {
		return nil, nil, err
	}
	for _, one := range list { // newest first
		var v work.Validation
		if json.Unmarshal(one.Content, &v) != nil {
			continue // its record is damaged
		}
		to := &checked
		if one.Metadata.Claimed {
			to = &claimed
		}
		if *to == nil {
			*to = &v
		}
	}
	return claimed, checked, nil
}

// files returns files of an execution as outputs: those with some paths, or all that have changed.
func (o *Outputs) files(ctx context.Context, x work.Execution, paths []string) ([]work.Output, error) {
	var list []work.Deliverable
	more := 0
	if o.c.Files == nil {
		for _, path := range paths[:min(len(paths), MostDeliverables)] {
			list = append(list, work.Deliverable{Path: path, What: work.FileNoGit})
		}
	} else {
		ctx, cancel := context.WithTimeout(ctx, filesLimit)
		defer cancel()
		q := FileQuery{Dir: x.Dir, From: x.Base, To: x.Result, Paths: paths, Unbased: x.Base == "" && x.Kind != work.KindHand,
			Cut: func(n int) { more = n }}
		if q.Dir == "" || q.To != "" && !o.c.Files.Holds(q.Dir) { // its worktree is gone, and what it had is kept
			q.Dir = o.c.Root
		}
		var err error
		if list, err = o.c.Files.Deliverables(ctx, q); err != nil {
			return nil, err
		}
	}
	var all []work.Output
	for i, d := range list {
		d.Path, d.From = line(d.Path), line(d.From)
		content, err := json.Marshal(d)
		if err != nil {
			return nil, err
		}
		all = append(all, work.Output{
			Type: work.OutputDeliverable, Path: d.Path, Content: content,
			Metadata: work.OutputMetadata{Related: related(list, i), Claimed: !d.Seen()},
		})
	}
	if more > 0 {
		content, err := json.Marshal(fmt.Sprintf("%d files have changed: %d of them are not written down", len(list)+more, more))
		if err != nil {
			return nil, err
		}
		all = append(all, work.Output{Type: work.OutputInsight, Content: content})
	}
	return all, nil
}

// mostRelated is how many other files a deliverable names.
const mostRelated = 20

// related returns the paths of the other files.
func related(list []work.Deliverable, but int) []string {
	var paths []string
	for i, d := range list {
		if i != but && len(paths) < mostRelated {
			paths = append(paths, line(d.Path))
		}
	}
	return paths
}
