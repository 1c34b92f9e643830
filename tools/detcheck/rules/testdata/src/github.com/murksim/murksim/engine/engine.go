// Package engine stands in for the one of murksim.
package engine

type Context struct{}

func (c *Context) Next(field int) []float32 { return nil }

type SystemContext struct{ Context }

type HandlerContext struct{}
