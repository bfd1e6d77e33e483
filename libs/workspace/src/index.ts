export { services, type Service } from './services.ts';
