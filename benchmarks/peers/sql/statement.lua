-- One prepared statement again and again, by sysbench.

sysbench.cmdline.options = { statement = { "What is executed", "SELECT 1" } }

function thread_init()
  connection = sysbench.sql.driver():connect()
  prepared = connection:prepare(sysbench.opt.statement)
end

function event()
  prepared:execute()
end
