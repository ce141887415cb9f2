module peers

go 1.18

require github.com/pingcap/go-ycsb v1.0.1

replace github.com/apache/thrift => github.com/apache/thrift v0.0.0-20171203172758-327ebb6c2b6d
