package project

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

// Adopt makes a state the project's because the person says so: the project was moved to another disk, restored from
// a backup, or taken out of its repository. Without a name it is the state that could not be decided on.
func (p *Project) Adopt(name string) error {
	return p.decided(func(home *private.Folder, all []state) error {
		s, err := p.pick(all, name)
		if err != nil {
			return err
		}
		if pid, runs := serving(home, s.folder); runs {
			return thread.Hint(fmt.Errorf("adopt %s: %w: process %d serves %s", s.folder, ErrServed, pid, s.Root),
				"`orchestrator stop` in "+string(s.Root)+" ends it with its agents, which can be resumed")
		}
		if err := p.displace(home, all, s); err != nil {
			return err
		}
		if s.bad != nil {
			if s, err = p.remake(home, s); err != nil {
				return err
			}
		}
		p.found = decision{kind: isFound, state: s, write: true, replace: true}
		if s, err = p.put(home, s, p.found); err != nil {
			return err
		}
		p.take(s)
		return nil
	})
}

// Begin gives the project a state of its own where it could not be decided whether an existing one belongs to it.
func (p *Project) Begin() error {
	return p.decided(func(home *private.Folder, all []state) error {
		if p.found.kind != isUndecided {
			return fmt.Errorf("%w: this project's threads are in %s: there is nothing to decide", thread.ErrInvalid, p.folder)
		}
		if err := p.displace(home, all, state{}); err != nil {
			return err
		}
		p.found = decision{kind: isCopy, write: true, replace: true}
		s, err := p.create(home, p.found)
		if err != nil {
			return err
		}
		p.take(s)
		return nil
	})
}

// decided runs a change that the person decided on, with the home locked.
func (p *Project) decided(change func(home *private.Folder, all []state) error) error {
	if p.Problem != nil && !errors.Is(p.Problem, ErrUndecided) {
		return p.Problem
	}
	home, err := Home(p.places)
	if err != nil {
		return err
	}
	defer home.Close()
	lock, err := lockHome(home)
	if err != nil {
		return err
	}
	defer lock.Close()
	p.here = p.here.again()
	all, err := records(home)
	if err != nil {
		return hint(err)
	}
	p.found = match(all, p.here)
	if err := change(home, all); err != nil {
		return hint(err)
	}
	p.Problem, p.Notices = nil, nil
	return nil
}

// pick finds the state that the person names.
func (p *Project) pick(all []state, name string) (state, error) {
	if name == "" {
		if p.found.kind == isUndecided {
			return p.found.state, nil
		}
		return state{}, thread.Kindf(thread.ErrInvalid, "which threads? orchestrator adopt STATE, which is one of: %s", names(all))
	}
	for _, s := range all {
		if s.folder == name {
			return s, nil
		}
	}
	return state{}, fmt.Errorf("no state is called %q, only: %s: %w", name, names(all), thread.ErrNotFound)
}

func names(all []state) string {
	var list []string
	for _, s := range all {
		list = append(list, fmt.Sprintf("%s (%s)", s.folder, s.Root))
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// displace removes the project's place from every other state that has it; their threads stay and can be adopted.
func (p *Project) displace(home *private.Folder, all []state, but state) error {
	for _, s := range all {
		if s.bad != nil || s.folder == but.folder || string(s.Root) != p.Root {
			continue
		}
		if pid, runs := serving(home, s.folder); runs {
			return thread.Hint(fmt.Errorf("%w (process %d)", ErrServed, pid),
				"`orchestrator stop` ends it with its agents, which can be resumed")
		}
		s.Was = append([]pathText{s.Root}, s.Was...)
		s.Was = s.Was[:min(len(s.Was), maxWas)]
		s.Root, s.RootAt, s.GitDir, s.GitAt, s.Mark = "", place{}, "", place{}, ""
		folder, err := home.Open(s.folder)
		if err != nil {
			return err
		}
		err = s.write(folder)
		folder.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// remake writes a new record for a state whose own cannot be read. Its folder must be in order.
func (p *Project) remake(home *private.Folder, s state) (state, error) {
	if errors.Is(s.bad, errNewer) {
		return s, s.bad
	}
	folder, err := home.Open(s.folder)
	if err != nil {
		return s, err
	}
	defer folder.Close()
	if err := folder.Check(recordName); err != nil {
		return s, err
	}
	tail := s.folder[strings.LastIndexByte(s.folder, '-')+1:]
	id := newMark()
	if p.here.mark != "" && strings.HasPrefix(p.here.mark, tail) {
		id = p.here.mark
	}
	return state{record: record{Version: recordVersion, ID: tail + id[len(tail):]}, folder: s.folder}, nil
}

// Names lists the states for people, with where their projects are or were.
func Names(places Places) ([]string, error) {
	home, err := private.Open(places.State, homeName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, hint(err)
	}
	defer home.Close()
	all, err := records(home)
	if err != nil {
		return nil, hint(err)
	}
	var list []string
	for _, s := range all {
		list = append(list, s.folder)
	}
	return list, nil
}
