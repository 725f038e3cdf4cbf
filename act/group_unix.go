//go:build unix

package act

import (
	"os/exec"
	"syscall"
)

// apart lets a command have a process group of its own, with all that it starts.
func apart(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killAll ends a command that was started apart, and what it started.
func killAll(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
