package cluster

// A ServerConfig describes a server of NATS within this process.
type ServerConfig struct {
	Listen    string   // address and port for clients
	Store     string   // folder for what it keeps
	Token     string   // that clients must know; "": anyone may connect
	Cert, Key string   // files: TLS; "": none
	CA        string   // a file: clients must have a certificate of one of these authorities; "": they need none
	Routes    string   // address and port for other servers of a cluster; "": there are none
	Peers     []string // addresses and ports of the others
	Say       func(text string)
}

// A Server is a running server.
type Server interface {
	URL() string // for clients on this machine, with the token
	Stop()       // returns when everything is stored
}
