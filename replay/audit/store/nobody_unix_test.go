//go:build unix

package store_test

import (
	"os/exec"
	"syscall"
)

// asNobody has a command run by a user without rights.
func asNobody(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}
