// One statement again and again by a driver of Node.js: DRIVER HOST PORT USER DATABASE STATEMENT TIMES.

const [driver, host, port, user, database, statement, times] = process.argv.slice(2);

async function mysql2() {
  const connection = await require("mysql2/promise").createConnection({ host, port: Number(port), user, database });
  for (let i = 0; i < Number(times); i++) await connection.execute(statement);
  await connection.end();
}

async function pg() {
  const { Client } = require("pg");
  const client = new Client({ host, port: Number(port), user, database });
  await client.connect();
  for (let i = 0; i < Number(times); i++) await client.query({ name: "s", text: statement });
  await client.end();
}

({ mysql2, pg })[driver]();
