// Package files opens files of users: also pipes, which may keep one waiting, and files that others change or exchange meanwhile.
package files
