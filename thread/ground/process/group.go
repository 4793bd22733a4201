package process

import (
	"os/exec"
	"syscall"
	"time"
)

// Group has a command run in a process group of its own, all of which is killed when the command's context ends. drain
// is how long its output is read once it has ended: a process that it left behind may keep that open.
func Group(cmd *exec.Cmd, drain time.Duration) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return SignalGroup(cmd, syscall.SIGKILL) }
	cmd.WaitDelay = drain
}

// SignalGroup signals the group of a command that was started.
func SignalGroup(cmd *exec.Cmd, sig syscall.Signal) error { return syscall.Kill(-cmd.Process.Pid, sig) }
