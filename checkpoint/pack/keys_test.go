package pack

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"orchestrator/thread"
)

// counted is a Source that counts the rows it gives.
type counted struct {
	rows
	given int
}

func (c *counted) Lineage(ctx context.Context, n int64, limit int) ([]Row, error) {
	out, err := c.rows.Lineage(ctx, n, limit)
	c.given += len(out)
	return out, err
}

// TestReplacedConversationsReadNothing replaces a conversation again and again with one that ends alike: the end
// is a run of a run of a run, and to read it at every put would take the square of the time.
func TestReplacedConversationsReadNothing(t *testing.T) {
	s, p := &counted{rows: rows{}}, New()
	item := func(text string) thread.Item {
		return thread.Item{Wire: "w", Raw: fmt.Appendf(nil, `"%s"`, text)}
	}
	end := item(strings.Repeat("the same answer ", 10))
	var parent int64
	const puts = 200
	for i := range puts {
		n := int64(len(s.rows) + 1)
		c := thread.Checkpoint{ID: thread.CheckpointID(fmt.Sprint("c", n)), Thread: "t"}
		if parent != 0 {
			c.Parent = s.rows[parent].ID
		}
		k, err := p.Pack(t.Context(), s, parent, c, thread.Delta{Items: []thread.Item{item(fmt.Sprint("prompt ", i)), end}})
		if err != nil {
			t.Fatal(err)
		}
		k.Row.N, k.Row.Seq = n, n
		k.Row.Sum = Seal(k.Plain, n)
		s.rows[n] = k.Row
		p.Done(k, n)
		parent = n
	}
	if s.given > 0 {
		t.Errorf("%d puts read %d rows", puts, s.given)
	}
	for name, q := range map[string]*Packer{"same": p, "after a restart": New()} {
		items, err := q.Conversation(t.Context(), s, parent, 2)
		if err != nil || len(items) != 2 || !bytes.Equal(items[1].Raw, end.Raw) ||
			string(items[0].Raw) != fmt.Sprintf(`"prompt %d"`, puts-1) {
			t.Errorf("%s: read %v, %v", name, items, err)
		}
	}
	if sum := len(s.rows[parent].Data); sum > 100 {
		t.Errorf("a put of what stood already takes %d bytes", sum)
	}
	// What is not in memory is read once.
	q := New()
	s.given = 0
	for range 3 {
		n := s.put(t, q, parent, thread.Delta{Items: []thread.Item{item("new"), end}})
		if parent = n; s.rows[n].Items != 2 {
			t.Errorf("%d items", s.rows[n].Items)
		}
	}
	if s.given > 2*puts {
		t.Errorf("after a restart three puts read %d rows", s.given)
	}
}
