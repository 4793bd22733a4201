package plan

import (
	"context"
	"time"

	"orchestrator/thread"
)

// Refusing returns the store of a project whose own cannot be used: each call returns why. All but plans goes on without it.
func Refusing(why error) Store { return refusing{why} }

type refusing struct{ why error }

func (r refusing) AddTask(context.Context, Task, []Node) (Task, error) { return Task{}, r.why }

func (r refusing) BeginTask(context.Context, string, func(*Task) error, []Node) (Task, error) {
	return Task{}, r.why
}

func (r refusing) TakeTask(context.Context, string, string, time.Time, func(Task) ([]Node, error)) (Task, bool, error) {
	return Task{}, false, r.why
}

func (r refusing) ChangeTask(context.Context, string, int64, func(*Task) error) (Task, error) {
	return Task{}, r.why
}

func (r refusing) Supersede(context.Context, string, func(*Task) error) (Task, error) {
	return Task{}, r.why
}

func (r refusing) Task(context.Context, string) (Task, error) { return Task{}, r.why }

func (r refusing) Tasks(context.Context, TaskQuery) ([]Task, error) { return nil, r.why }

func (r refusing) Node(context.Context, string, string) (Node, error) { return Node{}, r.why }

func (r refusing) Nodes(context.Context, string) ([]Node, error) { return nil, r.why }

func (r refusing) ChangeNodes(context.Context, string, map[string]int64, func(*Node) error) ([]Node, error) {
	return nil, r.why
}

func (r refusing) Deliver(context.Context, HandOver, int64, func(*Node) error) (HandOver, []Node, error) {
	return HandOver{}, nil, r.why
}

func (r refusing) HandOver(context.Context, string, string, int) (HandOver, error) {
	return HandOver{}, r.why
}

func (r refusing) HandOvers(context.Context, HandOverQuery) ([]HandOver, error) { return nil, r.why }

func (r refusing) Opens(context.Context, thread.Token) ([]HandOver, error) { return nil, r.why }

func (r refusing) SetToken(context.Context, string, string, int, thread.Token) error { return r.why }

func (r refusing) Note(context.Context, string, ...Event) error { return r.why }

func (r refusing) Events(context.Context, string, int64, int) ([]Event, error) { return nil, r.why }

func (r refusing) Arm(context.Context, Armed) error { return r.why }

func (r refusing) Armed(context.Context) ([]Armed, error) { return nil, r.why }

func (r refusing) PurgeTasks(context.Context, time.Time, int) ([]string, error) { return nil, r.why }
