package trust

import (
	"cmp"
	"fmt"
)

// Pins returns the pinned tools of a launch hash: name and pin. It is empty if there are none.
func (s *Store) Pins(hash string) (map[string]string, error) {
	out := make(map[string]string)
	err := s.withPins(hash, func(p *pins) bool {
		for name, pinned := range p.Tools {
			out[name] = cmp.Or(pinned.All, pinned.Sum)
		}
		return false
	})
	if err != nil {
		return nil, fmt.Errorf("read the pins of a server: %w", err)
	}
	return out, nil
}

// Withheld returns the names of the tools that no agent may see.
func (r Review) Withheld() []string {
	var names []string
	for _, t := range r.Tools {
		if t.Withheld {
			names = append(names, t.Name)
		}
	}
	return names
}
