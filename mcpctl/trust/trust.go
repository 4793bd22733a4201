// Package trust records which MCP servers the person has accepted, and which tools of them.
//
// A server is accepted by its launch hash: whatever else is started is new or changed, and is not accepted. Servers of a
// repository are accepted for one project; the person's own ones for all. The tools of an accepted server are pinned by
// the hash of their definitions; what differs from its pin is withheld until the person has seen it.
//
// The record is outside of all projects, in files of this user alone. Several processes may use it at once. A record
// that is damaged accepts nothing and is never replaced: every call fails until somebody has dealt with it.
package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"orchestrator/mcpctl/definition"
)

// Verdict describes whether a server may be started: only if it is Accepted.
type Verdict struct {
	State State
	Was   []string // for Changed: what was accepted, as it was shown
}

// Server is a definition with what the person sees of it.
type Server struct {
	Definition definition.Definition
	Hash       string
	Shown      []string
}

// Verdict judges a server that is configured in a project. On an error it is not accepted.
func (s *Store) Verdict(project string, d definition.Definition, hash string) (Verdict, error) {
	r, err := s.read()
	if err != nil {
		return Verdict{State: New}, err
	}
	place := placeOf(project, d)
	if known, ok := r.Servers[place][hash]; ok && hash != "" {
		return Verdict{State: known.State}, nil
	}
	v := Verdict{State: New}
	var last time.Time
	for _, known := range r.Servers[place] {
		if known.Name == d.Name && known.State == Accepted && !known.At.Before(last) {
			v, last = Verdict{State: Changed, Was: known.Shown}, known.At
		}
	}
	return v, nil
}

// Accept records that the person has accepted exactly the server with this hash, whose Shown they have seen. If its
// configuration has changed meanwhile, the changed one is not accepted by it.
func (s *Store) Accept(project string, d definition.Definition, hash string, shown []string) error {
	return s.decide(project, d, hash, shown, Accepted)
}

// Reject records that the person does not want exactly this server: it is not offered again.
func (s *Store) Reject(project string, d definition.Definition, hash string, shown []string) error {
	return s.decide(project, d, hash, shown, Rejected)
}

// Revoke takes back an Accept or Reject: the server is asked for again, as New.
func (s *Store) Revoke(project string, d definition.Definition, hash string) error {
	err := s.update(func(r *record) (bool, error) {
		place := placeOf(project, d)
		_, known := r.Servers[place][hash]
		delete(r.Servers[place], hash)
		if len(r.Servers[place]) == 0 {
			delete(r.Servers, place)
		}
		return known, nil
	})
	if err != nil {
		return fmt.Errorf("revoke %s: %w", d.ID, err)
	}
	return nil
}

func (s *Store) decide(project string, d definition.Definition, hash string, shown []string, state State) error {
	err := s.update(func(r *record) (bool, error) {
		return true, r.set(placeOf(project, d), hash, s.decision(d, shown, state))
	})
	if err != nil {
		return fmt.Errorf("record that %s is %s: %w", d.ID, state, err)
	}
	return nil
}

// FirstSight accepts the servers of a file of the person's own that has never been read before, as they stand. It
// reports whether this was the first time; from then on, what is added to the file or changed in it is new or changed.
// Calling it for a file that does not exist yet, without servers, makes everything that is written there later new. So
// are servers for one project (definition.Local) of a file that was first seen in another project.
func (s *Store) FirstSight(file string, servers []Server) (bool, error) {
	if file == "" {
		return false, errors.New("see a file for the first time: it has no name")
	}
	for _, server := range servers {
		if !server.Definition.Trusted() {
			return false, fmt.Errorf("see %s for the first time: %s is configured by a repository", file, server.Definition.ID)
		}
	}
	if r, err := s.read(); err == nil && r.seen(file) {
		return false, nil
	}
	first := false
	err := s.update(func(r *record) (bool, error) {
		if r.seen(file) {
			return false, nil
		}
		r.Files[file] = s.now().UTC()
		first = true
		for _, server := range servers {
			place := placeOf("", server.Definition)
			if _, known := r.Servers[place][server.Hash]; known {
				continue
			}
			if err := r.set(place, server.Hash, s.decision(server.Definition, server.Shown, Accepted)); err != nil {
				return false, err
			}
		}
		return true, nil
	})
	if err != nil {
		return false, fmt.Errorf("see %s for the first time: %w", file, err)
	}
	return first, nil
}

// own is the place of the person's own servers.
const own = "own"

// placeOf is where a decision about a server holds: in its project, or everywhere if the person configured it.
func placeOf(project string, d definition.Definition) string {
	if d.Trusted() {
		return own
	}
	return "project:" + project
}

// maxShown limits what is kept of a result of Shown.
const maxShown = 64 << 10

func (s *Store) decision(d definition.Definition, shown []string, state State) decision {
	total := 0
	for i, line := range shown {
		if total += len(line); total > maxShown {
			shown = append(slices.Clone(shown[:i]), "(more that was not kept)")
			break
		}
	}
	return decision{Name: d.Name, State: state, Shown: shown, At: s.now().UTC()}
}

// Stamp tells apart the states of the record, as far as its size, time and place on the disk do. It does not read it.
func (s *Store) Stamp() string {
	info, err := os.Stat(filepath.Join(s.home, folderName, recordName))
	if err != nil {
		return ""
	}
	stamp := fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		stamp += fmt.Sprintf(" %d", st.Ino)
	}
	return stamp
}
