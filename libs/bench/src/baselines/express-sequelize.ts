// Express 5 and Sequelize 6, with what their guides advise for production: a pool, no log, raw rows where no model is needed. Its
// table has the rows of the service's, and no triggers.
import express from 'express';
import pg from 'pg';
import { DataTypes, Sequelize } from 'sequelize';

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const sequelize = new Sequelize(process.env.DATABASE_URL!, { logging: false, pool: { max: 10, idle: 300_000 } });

const Item = sequelize.define(
  'plain_item',
  {
    id: { type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true },
    title: { type: DataTypes.STRING(150), allowNull: false },
    status: { type: DataTypes.TEXT, allowNull: false, defaultValue: 'Doing' },
  },
  { freezeTableName: true, createdAt: 'created_at', updatedAt: 'updated_at' },
);

const app = express();
app.use(express.json());

app.get('/v1/items', async (request, response) => {
  const page = Number(request.query.page ?? 1);
  const limit = Number(request.query.limit ?? 10);
  response.json(await Item.findAll({ order: ['id'], offset: (page - 1) * limit, limit, raw: true }));
});

app.get('/v1/items/:id', async (request, response) => {
  const item = await Item.findByPk(request.params.id, { raw: true });
  if (item) response.json(item);
  else response.status(404).json({ message: 'Item not found' });
});

app.post('/v1/items', async (request, response) => {
  const { title } = request.body as { title?: unknown };
  if (typeof title !== 'string' || title.trim() === '') {
    response.status(400).json({ message: 'Title cannot be empty' });
    return;
  }
  const item = await Item.create({ title });
  response.status(201).json({ id: item.get('id') });
});

app.put('/v1/items/:id', async (request, response) => {
  const { title, status } = request.body as { title?: string; status?: string };
  const [count] = await Item.update({ title, status }, { where: { id: request.params.id } });
  if (count > 0) response.json({ message: 'Item updated successfully' });
  else response.status(404).json({ message: 'Item not found' });
});

app.listen(Number(process.env.PORT), process.env.HOST!);
