import { absentIfBlank, absentIfEmpty } from '@rest-services/service';
import { Type } from 'typebox';

const Title = Type.String({
  maxLength: 150,
  description: 'Not blank; at most 150 characters (code points).',
  ...absentIfBlank,
});
const Status = Type.Enum(['Doing', 'Finished'], { type: 'string', ...absentIfEmpty });
const Timestamp = Type.String({ format: 'date-time' });

export const ItemId = Type.Object({ id: Type.Integer() });

export const Item = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  status: Type.Enum(['Doing', 'Finished'], { type: 'string' }),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const Items = Type.Array(Item);

export const CreateItem = Type.Object({ title: Title });
export const UpdateItem = Type.Partial(Type.Object({ title: Title, status: Status }));

export const Created = Type.Object({ id: Type.Integer() });
export const Summary = Type.Object({ finished: Type.Integer(), total: Type.Integer() });
export const Message = Type.Object({ message: Type.String() });
