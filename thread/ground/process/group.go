package process

import (
	"os/exec"
	"syscall"
	"time"
)

// Group has a command lead a process group that is killed with the command's context. Once the command has ended, its output
// is read for some time at most: what it left behind may keep it open.
func Group(cmd *exec.Cmd, drain time.Duration) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return SignalGroup(cmd, syscall.SIGKILL) }
	cmd.WaitDelay = drain
}

// SignalGroup signals the group of a command that was started.
func SignalGroup(cmd *exec.Cmd, sig syscall.Signal) error { return syscall.Kill(-cmd.Process.Pid, sig) }
