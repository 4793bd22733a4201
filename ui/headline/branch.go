package headline

import (
	"time"

	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

// every is how much time is at least between two looks at the branch.
const every = 5 * time.Second

// Branch is the branch that the project is on. It is read beside the screen, when something else happens anyway.
type Branch struct {
	read func() string // nil reads nothing
	name string
	next time.Time
}

// NewBranch returns one that is read by a function.
func NewBranch(read func() string) Branch { return Branch{read: read} }

// Name returns it as far as it is known.
func (b *Branch) Name() string { return b.name }

// Follow reads it again if that is a while ago. Call it after every message.
func (b *Branch) Follow(now time.Time) tea.Cmd {
	if b.read == nil || now.Before(b.next) {
		return nil
	}
	b.next = now.Add(every)
	return func() tea.Msg {
		name := b.read()
		return host.Reply(func() tea.Cmd {
			b.name = name
			return nil
		})
	}
}
