// Package readme holds tests that run what the documents show: every sample of
// README.md and docs/PROPAGATOR.md, and every command that CONTRIBUTING.md names.
package readme
