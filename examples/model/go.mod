module example.com/model

go 1.26.0

require github.com/murksim/murksim v0.1.0

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/google/btree v1.1.3 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	lukechampine.com/frand v1.5.1 // indirect
)

replace github.com/murksim/murksim => ../..
