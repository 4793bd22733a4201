package process

import (
	"os"
	"runtime"

	ground "orchestrator/thread/ground/process"
)

// starter starts programs from one operating system thread that lives until it is closed: the kernel ends a program with
// the thread that started it, not with the process.
type starter struct {
	work chan func()
	done chan struct{}
}

func newStarter() *starter {
	s := &starter{work: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for do := range s.work {
			do()
		}
	}()
	return s
}

// start starts a program with a label.
func (s *starter) start(path string, args []string, attr *os.ProcAttr, label ground.Label) (p *os.Process, err error) {
	done := make(chan struct{})
	s.work <- func() {
		defer close(done)
		p, err = ground.StartLabelled(path, args, attr, label)
	}
	<-done
	return p, err
}

// close lets the thread end. No program of it may run any more.
func (s *starter) close() {
	close(s.work)
	<-s.done
}
