package project

import (
	"errors"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/private"
)

// Claim makes the project's state where it is missing and records where the project is, so that it is found
// again. It fails where the state cannot be used.
func (p *Project) Claim() error {
	unsure := errors.Is(p.Problem, ErrUndecided) // another client may be just about to settle it
	if p.Problem != nil && !unsure || p.ID != "" && !p.found.write {
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
	p.here = p.here.again() // another client may have claimed it meanwhile
	all, err := records(home)
	if err != nil {
		return hint(err)
	}
	p.found = match(all, p.here)
	if p.Problem = p.use(p.found); p.Problem != nil {
		return p.Problem
	}
	return p.settle(home, p.found)
}

// settle writes what a decision changes. The home is locked.
func (p *Project) settle(home *private.Folder, d decision) error {
	switch d.kind {
	case isNew, isCopy:
		s, err := p.create(home, d)
		if err != nil {
			return hint(fmt.Errorf("make the state folder: %w", err))
		}
		p.take(s)
		return nil
	case isUndecided, isAlias:
		return nil
	case isFound, isMoved:
	}
	if !d.write {
		return nil
	}
	if d.kind == isMoved {
		if pid, runs := serving(home, d.state.folder); runs {
			return thread.Hint(fmt.Errorf("%w: process %d serves %s", ErrMoved, pid, d.state.Root),
				"`orchestrator stop` here ends it with its agents, which can be resumed; the next verb continues in "+p.Root)
		}
	}
	s, err := p.put(home, d.state, d)
	if err != nil {
		return hint(fmt.Errorf("record where the project is: %w", err))
	}
	p.take(s)
	return nil
}

// create makes a state of its own for the project.
func (p *Project) create(home *private.Folder, d decision) (state, error) {
	s := state{record: record{Version: recordVersion, ID: newMark()}}
	s.folder = folderName(p.Root, s.ID)
	folder, err := home.Make(s.folder)
	if err != nil {
		return s, err
	}
	folder.Close()
	return p.put(home, s, d)
}

// put writes the state's record and the project's mark where that is possible. The record goes first: a process that is
// killed in between leaves the mark to the next one.
func (p *Project) put(home *private.Folder, s state, d decision) (state, error) {
	if s.Root != "" && s.Root != pathText(p.Root) {
		s.Was = append([]pathText{s.Root}, s.Was...)
		s.Was = s.Was[:min(len(s.Was), maxWas)]
	}
	s.Root, s.RootAt, s.GitDir, s.GitAt = pathText(p.Root), p.here.rootAt, pathText(p.here.gitDir), p.here.gitAt
	var missing bool
	s.Mark, missing = p.here.markFor(s, d)
	folder, err := home.Open(s.folder)
	if err != nil {
		return s, err
	}
	defer folder.Close()
	if err := s.write(folder); err != nil || !missing {
		return s, err
	}
	if err := writeMark(p.here.gitDir, s.Mark); err != nil {
		p.Notices = append(p.Notices, fmt.Sprintf("this project is known by its path alone: %v", err))
		s.Mark = ""
		return s, s.write(folder)
	}
	p.here.mark = s.Mark
	return s, nil
}
