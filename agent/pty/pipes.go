package pty

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"orchestrator/thread"
)

const (
	// pipeReadSize is the most that one read of a pipe returns: half of what Linux keeps in one.
	pipeReadSize = 32 << 10
	// maxPiped is how much input a program with pipes may leave unread before writes are refused: it gets the longest
	// prompt whole, with each character escaped.
	maxPiped = 32 << 20
)

// pipes are our ends of a program's standard input, output and error.
type pipes struct {
	in       *sink
	out, err *source
}

// openPipes returns our ends of three new pipes, and the program's. Ours are in non-blocking mode, as a terminal's.
func openPipes() (p *pipes, theirs []*os.File, err error) {
	var ours []*os.File
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(append(ours, theirs...))
			return nil, nil, err
		}
		if i == 0 {
			r, w = w, r
		}
		ours, theirs = append(ours, r), append(theirs, w)
	}
	return &pipes{
		in:  &sink{file: ours[0], most: maxPiped},
		out: &source{file: ours[1], size: pipeReadSize}, err: &source{file: ours[2], size: pipeReadSize},
	}, theirs, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // nothing needs to be flushed
	}
}

// read reads both outputs, each on a goroutine, and closes them at their end.
func (p *pipes) read(spec Spec) {
	var both sync.WaitGroup
	both.Go(func() {
		defer p.err.file.Close()
		p.err.read(spec.Turn, spec.Errors)
	})
	p.out.read(spec.Turn, spec.Output)
	_ = p.out.file.Close() // nothing needs to be flushed
	both.Wait()
}

func (p *pipes) stopReading() {
	p.out.stopReading()
	p.err.stopReading()
}

func (p *pipes) unread() bool { return p.out.unread() || p.err.unread() }

// write says ErrNotRunning of a program that has ended or closed its input.
func (p *pipes) write(b []byte) error {
	err := p.in.write(b)
	if errors.Is(err, unix.EPIPE) {
		return thread.Kindf(thread.ErrNotRunning, "it has closed its input")
	}
	return err
}

func (p *pipes) closeInput() error {
	p.in.end()
	return nil
}

func (p *pipes) setSize(int, int) error { return nil } // they have none

// hangUp closes the input; the outputs end with what is there.
func (p *pipes) hangUp() {
	p.in.close()
	p.stopReading()
}

func (p *pipes) drop() { closeAll([]*os.File{p.in.file, p.out.file, p.err.file}) }
