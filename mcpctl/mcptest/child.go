package mcptest

import (
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// childLife is how long a process may at most be left behind by a test that fails.
const childLife = 2 * time.Minute

// child is a process that does not end when it is asked to.
func child() {
	ignore()
	time.Sleep(childLife)
	os.Exit(0)
}

func ignore() { signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE) }

// fork starts a child, in a session of its own or without an environment, and returns its pid.
func fork(session, bare bool) int {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c := exec.Command(self, childArgument)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr // it keeps the pipes open
	if bare {
		c.Env = []string{}
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := c.Start(); err != nil {
		panic(err)
	}
	return c.Process.Pid
}

// stray starts a process that leaves a child behind which has nothing of this one but what the kernel keeps.
func stray(file string) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c := exec.Command(self, strayArgument, file)
	c.Env = []string{}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Run(); err != nil {
		panic(err)
	}
}

// leave starts a child, notes its pid in a file and ends.
func leave(file string) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c := exec.Command(self, childArgument)
	c.Env = []string{}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		panic(err)
	}
	modes{"starts": file}.note("starts", strconv.Itoa(c.Process.Pid))
	os.Exit(0)
}
