//go:build !unix

package store_test

import "os/exec"

// asNobody is for systems with a root user.
func asNobody(*exec.Cmd) {}
