package masks_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"orchestrator/contextmgr/masks"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// seals keeps seals in memory, as the threads' rows do.
type seals struct {
	mu sync.Mutex
	by map[thread.ID]thread.MaskSeal
}

func (s *seals) Seal(id thread.ID) *thread.MaskSeal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seal, ok := s.by[id]; ok {
		return &seal
	}
	return nil
}

func (s *seals) PutSeal(id thread.ID, seal thread.MaskSeal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.by[id] = seal
	return nil
}

// copy returns seals of their own.
func (s *seals) copy() *seals {
	out := &seals{by: map[thread.ID]thread.MaskSeal{}}
	for id, seal := range s.by {
		out.by[id] = seal
	}
	return out
}

// sealedWorld is a store of masks whose seals are kept.
func sealedWorld(t testing.TB, dir string, kept masks.Seals) (*masks.Store, *[]string) {
	t.Helper()
	folder, err := private.Make(dir, "masks")
	if err != nil {
		t.Fatal(err)
	}
	said := &[]string{}
	return masks.Open(folder, masks.Config{Seals: kept, Notice: func(_ thread.ID, text string) {
		*said = append(*said, text)
	}}), said
}

// TestDamagedLogIsNoticed cuts the log at each record, cuts it in each, empties it, takes it away, flips a bit of each
// byte and swaps what it has with what it had. The mode is always that which was set, what is masked has its text of
// before, and what is not masked any more is named, once; the next restart has nothing new to say.
func TestDamagedLogIsNoticed(t *testing.T) {
	for _, mode := range []string{"", "off", "lean"} {
		dir := t.TempDir()
		kept := &seals{by: map[thread.ID]thread.MaskSeal{}}
		s, _ := sealedWorld(t, dir, kept)
		set, err := s.Thread("a", "")
		if err != nil {
			t.Fatal(err)
		}
		if err := set.Add([]masks.New{item("r1", "one"), item("r2", "two")}); err != nil {
			t.Fatal(err)
		}
		if mode != "" {
			if err := set.SetMode(mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := set.Add([]masks.New{item("r3", "three")}); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, m := range set.All() {
			want[string(m.ID)] = m.Stub
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "masks", "a", "log")
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		logs := map[string][]byte{"empty": {}, "gone": nil}
		for i := range good {
			if good[i] == '\n' && i+1 < len(good) {
				logs["cut after a record "+string(good[i+1:min(len(good), i+9)])] = good[:i+1]
			}
			if i%16 == 3 {
				logs["cut at "+string(rune(i))] = good[:i]
			}
			if i%3 == 0 || testing.Short() == false && i < 400 {
				flipped := bytes.Clone(good)
				flipped[i] ^= 1 << (i % 8)
				logs["flipped at "+string(rune(i))] = flipped
			}
		}
		for what, log := range logs {
			if log == nil {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, log, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			seals := kept.copy()
			s, said := sealedWorld(t, dir, seals)
			set, err := s.Thread("a", "")
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if set.Mode() != mode {
				t.Errorf("%s: the mode is %q, was %q", what, set.Mode(), mode)
			}
			left := set.All()
			for _, m := range left {
				if want[string(m.ID)] != m.Stub {
					t.Errorf("%s: %s has another text: %q", what, m.ID, m.Stub)
				}
			}
			if len(left) < len(want) && (set.LostWhy() == "" || !set.Shorter() || len(*said) == 0) {
				t.Errorf("%s: %d of %d masks are left, and nothing is said", what, len(left), len(want))
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again, _ := sealedWorld(t, dir, seals)
			set, err = again.Thread("a", "")
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if set.Mode() != mode || len(set.All()) != len(left) || len(left) < len(want) && set.LostWhy() == "" {
				t.Errorf("%s, after another restart: mode %q, %d masks, %q", what, set.Mode(), len(set.All()), set.LostWhy())
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestLostModeMasksNothing has a damaged log of a thread that has no seal yet: the mode may be lost.
func TestLostModeMasksNothing(t *testing.T) {
	dir := t.TempDir()
	s, _ := sealedWorld(t, dir, nil)
	set, err := s.Thread("a", "")
	if err == nil {
		err = set.Add([]masks.New{item("r1", "one")})
	}
	if err == nil {
		err = set.SetMode("off")
	}
	if err == nil {
		err = set.Add([]masks.New{item("r2", "two")})
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "masks", "a", "log")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(b, []byte(`"mode":"off"`), []byte(`"mode":"ofg"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	s, said := sealedWorld(t, dir, &seals{by: map[thread.ID]thread.MaskSeal{}})
	if set, err = s.Thread("a", ""); err != nil {
		t.Fatal(err)
	}
	if set.Mode() != "observe" || len(*said) != 1 || !strings.Contains((*said)[0], "mode") {
		t.Errorf("mode %q, %q", set.Mode(), *said)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
