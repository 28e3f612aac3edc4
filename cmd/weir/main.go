// Command weir keeps a network lossless for RDMA.
package main

func main() {}
