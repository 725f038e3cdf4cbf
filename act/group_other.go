//go:build !unix

package act

import "os/exec"

// apart is for systems with process groups.
func apart(*exec.Cmd) {}

// killAll ends a command.
func killAll(c *exec.Cmd) error { return c.Process.Kill() }
